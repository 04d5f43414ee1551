--TEST--
CORO-1 every kind of callable, seen with the rights of the place that spawns it
--FILE--
<?php
use function Async\{await, spawn};

final class Machine
{
    public function method(int $x): string { return "method $x"; }
    public static function fixed(int $x): string { return "static $x"; }
    public function __invoke(int $x): string { return "invoked $x"; }
    public function __call(string $name, array $arguments): string { return "__call $name " . implode(',', $arguments); }
    public static function __callStatic(string $name, array $arguments): string { return "__callStatic $name " . implode(',', $arguments); }
    private function hidden(int $x): string { return "private $x"; }
    public function inside(): Async\Coroutine { return spawn([$this, 'hidden'], 1); }
    public function bound(): Closure { return function(int $x) { return static::class . " $x"; }; }
}

function named(int $x): string { return "function $x"; }

$machine = new Machine;
// all are queued before the first one runs
$queued = [
    spawn('named', 1),
    spawn('strtoupper', 'internal'),
    spawn(named(...), 2),
    spawn(strrev(...), 'cba'),
    spawn([$machine, 'method'], 3),
    spawn([Machine::class, 'fixed'], 4),
    spawn('Machine::fixed', 5),
    spawn($machine, 6),
    spawn($machine->method(...), 7),
    spawn(Machine::fixed(...), 8),
    spawn([$machine, 'one'], 'a', 'b'),
    spawn([$machine, 'two'], 'c'),
    spawn([$machine, 'hidden'], 9),
    spawn(Machine::three(...), 'd'),
    spawn('Machine::four', 'e'),
    $machine->inside(),
    spawn($machine->bound(), 10),
    spawn(static fn(int $x) => isset($this) ? 'bound' : "static closure $x", 11),
    spawn((new ReflectionMethod($machine, 'hidden'))->getClosure($machine), 12),
    array_map(spawn(...), ['phpversion'])[0],
];
foreach ($queued as $coroutine) {
    $result = await($coroutine);
    echo $result === PHP_VERSION ? 'the version' : $result, "\n";
}
?>
--EXPECT--
function 1
INTERNAL
function 2
abc
method 3
static 4
static 5
invoked 6
method 7
static 8
__call one a,b
__call two c
__call hidden 9
__callStatic three d
__callStatic four e
private 1
Machine 10
static closure 11
private 12
the version
