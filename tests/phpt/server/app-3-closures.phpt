--TEST--
APP-3 a closure that several instances call has the statics of each, but in code that opcache's JIT has compiled
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/server/server.inc';
require getenv('SPINDLE_ROOT') . '/tests/phpt/server/instances.inc';

S\in_each_mode(<<<'PHP'
use Async\Channel;
use function Async\{await, spawnInstance};

trait Makes { public static function made(): Closure { return static function () { self::$seen[] = 1; return ++self::$count; }; } }
class Config { use Makes; public static array $seen = []; public static int $count = 0; public int $own = 1; }
function bound(): Closure { return Closure::bind(static function () { self::$seen[] = 1; return ++self::$count; }, null, Config::class); }
function method(): Closure { return (new class { function add() { Config::$seen[] = 1; return ++Config::$count; } })->add(...); }
/** Returns whether strings are what they were. */
function intact(callable $what): bool
{
    for ($strings = [], $i = 0; $i < 1000; $i++) $strings[] = substr("abcdefg$i", -6);
    $before = md5(implode($strings));
    $what();
    return $before === md5(implode($strings));
}

// Two live ones call each other's, and those of the script.
$late = null;
$closures = new ArrayObject;
$turns = [new Channel(1), new Channel(1)];
$work = static function (int $i) use ($closures, $turns): array {
    foreach (['Config::made', 'bound', 'method'] as $make) $closures["$make $i"] = $make();
    $counts = [];
    for ($round = 0; $round < 20; $round++) {
        $turns[1 - $i]->send(1);
        $turns[$i]->recv();
        foreach ($closures as $closure) {
            $before = Config::$count;
            $copy = $round % 2 ? clone $closure : $closure;
            $counts[] = $closure() - $before;
            $counts[] = $copy->__invoke() - $before;
            $counts[] = (fn() => $closure())() - $before;
            if (!(new ReflectionFunction($closure))->getClosureThis()) {
                $counts[] = Closure::bind($closure, null, Config::class)() - $before;
                $counts[] = $closure->bindTo(null)() - $before;
                $counts[] = array_map($closure, [1])[0] - $before;
                Config::$count -= 3;
            }
            Config::$count -= 3;
            Config::$seen = array_fill(0, Config::$count, 1);
        }
        gc_collect_cycles();
    }
    sort($counts);
    return array_values(array_unique($counts));
};
$begins = spawnInstance(fn() => 0);
$both = [spawnInstance(fn() => $work(0)), spawnInstance(fn() => $work(1))];
await($begins);
$closures['the script'] = bound();
foreach ($both as $one) echo json_encode(await($one)), "\n";
echo 'the script: ', Config::$count, ' ', $closures['the script'](), ' ', $closures['bound 0'](), ' ', count($closures), "\n";

// What was made of a closure of the script outlives it.
$script = bound();
$of = await(spawnInstance(function () use ($script) { $copies = [clone $script, $script->bindTo(null), Closure::bind($script, null, Config::class)]; return $copies; }));
unset($script);
foreach ($of as $copy) intact($copy) || print 'wrong';
echo Config::$count, "\n";

// A closure in which code waits while it is called elsewhere.
$waits = null;
$one = spawnInstance(function () use ($closures, $turns) {
    $closures['waits'] = Closure::bind(function ($turn) { self::$count = 10; $turn->recv(); return ++self::$count; }, null, Config::class);
    return $closures['waits']($turns[0]);
});
$two = spawnInstance(function () use ($closures, $turns) {
    while (!isset($closures['waits'])) usleep(100);
    $turns[1]->send(1);
    return [Config::$count, $closures['waits']($turns[1]), Config::$count];
});
$two = json_encode(await($two));
$turns[0]->send(1);
echo $two, ' ', await($one), "\n";
PHP, ['without opcache', 'with opcache']);
?>
--EXPECT--
without opcache: [0] [1,2,3,4,5,6]
[1,2,3,4,5,6]
the script: 0 1 2 7
5
[0,11,11] 11

with opcache: [0] [1,2,3,4,5,6]
[1,2,3,4,5,6]
the script: 0 1 2 7
5
[0,11,11] 11
