--TEST--
H18 two coroutines in __get(), __set(), __isset() and __unset() of one object: each is called as if it were alone
--FILE--
<?php
use function Async\{await, delay, spawn, suspend};

require __DIR__ . '/kit.inc';

/** Loads what it has not got when it is asked for it. */
final class Lazy
{
    private array $loaded = [];
    public array $log = [];

    public function __get(string $name): mixed
    {
        $asked = $name;
        $name = null; // the guard is not found by the argument
        $this->log[] = "get $asked";
        suspend();
        if ($asked === 'both') return $this->left . $this->right;
        if ($asked === 'again') return @$this->again ?? 'plain'; // inside, it is a plain access
        delay($asked === 'slow' && !$this->loaded ? 1_000_000 : 1);
        return $this->loaded[$asked] ??= strtoupper($asked);
    }

    public function __set(string $name, mixed $value): void
    {
        $this->log[] = "set $name";
        suspend();
        if ($name === 'dynamic') { $this->dynamic = $value; return; }
        $this->loaded[$name] = $value;
    }

    public function __isset(string $name): bool
    {
        $this->log[] = "isset $name";
        suspend();
        return $name !== 'missing' && !isset($this->$name);
    }

    public function __unset(string $name): void
    {
        $this->log[] = "unset $name";
        suspend();
        unset($this->$name, $this->loaded[$name]);
    }
}

$all = fn(callable ...$jobs) => T\all(array_map(fn($job) => spawn($job), $jobs));
$lazy = new Lazy;
echo json_encode($all(fn() => $lazy->name, fn() => $lazy->name, fn() => $lazy->other, fn() => $lazy->both, fn() => $lazy->both)), "\n";
echo json_encode($all(fn() => $lazy->again, fn() => $lazy->again, fn() => $lazy->again)), "\n";
echo json_encode($all(fn() => isset($lazy->name), fn() => isset($lazy->name), fn() => isset($lazy->missing), fn() => $lazy->name ?? 'none', fn() => empty($lazy->name))), "\n";
$all(function() use ($lazy) { $lazy->name = 'one'; }, function() use ($lazy) { $lazy->other = 'two'; }, function() use ($lazy) { $lazy->third = 'three'; });
echo json_encode($all(fn() => $lazy->name, fn() => $lazy->other, fn() => $lazy->third)), "\n";
$lazy->log = [];
$all(function() use ($lazy) { unset($lazy->name); }, function() use ($lazy) { unset($lazy->name); });
echo json_encode($lazy->log), "\n";
// beside main, and when one is cancelled inside
$lazy = new Lazy;
$cancelled = spawn(fn() => $lazy->slow);
T\parked($cancelled);
echo $lazy->fourth, $lazy->slow, "\n";
$cancelled->cancel();
try { await($cancelled); } catch (Async\CancellationException) {}
echo $lazy->slow, "\n";
// nothing is left behind: what was guarded is guarded again
echo $lazy->again, "\n";
echo json_encode(T\all([spawn(fn() => $lazy->fifth), spawn(fn() => $lazy->sixth)])), "\n";
// thousands in one property, of which others are asked for meanwhile
$jobs = $expected = [];
for ($n = 0; $n < 2000; $n++) {
    array_push($jobs, fn() => $lazy->name, fn() => $lazy->{"p$n"});
    array_push($expected, 'NAME', "P$n");
}
T\check('thousands', $all(...$jobs) === $expected);
// the guard of one property is not taken for another's
$lazy = new Lazy;
echo json_encode($all(fn() => $lazy->again, fn() => $lazy->other)), ' ', count(array_keys($lazy->log, 'get again')), "\n";
// whose frames were suspended before: in the same function, in a generator, in a fiber
function turns(): void { for ($n = 0; $n < 9; $n++) suspend(); }
function generated() { while (true) { turns(); suspend(); yield; } }
$fiber = function() { while (true) { turns(); suspend(); Fiber::suspend(); } };
$two = function(object $object) {
    suspend();
    $other = spawn(function() use ($object) { suspend(); suspend(); return $object->one ?? 'nothing'; });
    suspend();
    return [$object->one, await($other)];
};
$ticker = spawn(function() { while (true) suspend(); });
foreach (['none' => null, 'generator' => generated(), 'fiber' => new Fiber($fiber)] as $name => $steps) {
    if ($steps instanceof Fiber) $steps->start();
    if ($steps instanceof Generator) $steps->next();
    $object = $steps ? new class($steps) { public bool $is_in = false; public function __construct(public $steps) {} public function __get($name) {
        while ($this->is_in) suspend(); // one at a time in the generator or the fiber
        $this->is_in = true; $this->steps instanceof Fiber ? $this->steps->resume() : $this->steps->next(); $this->is_in = false; return $name;
    } } : new class { public function __get($name) { turns(); return $name; } };
    T\check($name, $two($object) === ['one', 'one'] && await(spawn($two, $object)) === ['one', 'one']);
}
$ticker->cancel();
// a fiber that is suspended in another property of the object, and goes on in another coroutine meanwhile
$object = new class {
    public array $log = [];
    public bool $goes_on = false;
    public function __get($name) {
        $this->log[] = $name;
        if ($name === 'fibers') Fiber::suspend();
        else while (!$this->goes_on) suspend();
        return @$this->$name ?? 'plain';
    }
};
$fiber = new Fiber(fn() => $object->fibers);
$starts = spawn(function() use ($fiber, $object) { $fiber->start(); return $object->own; });
T\begun($starts);
$fiber->resume();
$object->goes_on = true;
echo $fiber->getReturn(), ' ', await($starts), ' ', implode(' ', $object->log), ' ';
$fiber = new Fiber(fn() => $object->fibers); // it is guarded by nobody now
$fiber->start();
echo count($object->log), "\n";
?>
--EXPECT--
["NAME","NAME","OTHER","LEFTRIGHT","LEFTRIGHT"]
["plain","plain","plain"]
[true,true,false,"NAME",false]
["one","two","three"]
["unset name","unset name"]
FOURTHSLOW
SLOW
plain
["FIFTH","SIXTH"]
thousands: yes
["plain","OTHER"] 1
none: yes
generator: yes
fiber: yes
plain plain fibers own 3
