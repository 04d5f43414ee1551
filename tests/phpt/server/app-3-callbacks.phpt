--TEST--
APP-3 a closure that the engine keeps as a callback has the statics of the instance that calls it, also when its own has ended
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/server/server.inc';
require getenv('SPINDLE_ROOT') . '/tests/phpt/server/instances.inc';

S\in_each_mode(<<<'PHP'
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

// An iterator keeps what the script has given to it before, and does not ask whose it is.
final class Counted { public static int $count = 0; public static function filter(): Closure { return static fn() => (bool) ++self::$count; } }
$filter = new CallbackFilterIterator(new ArrayIterator([1]), Counted::filter());
iterator_count($filter);
echo await(spawnInstance(function () { iterator_count($GLOBALS['filter']); return Counted::$count; })), ' ', Counted::$count, ' ';

$kept = new ArrayObject;
// The engine, and objects of it, keep what an instance that has ended has set.
$set = [
    'a signal' => [fn($f) => pcntl_signal(SIGUSR2, fn() => $f()), function () { posix_kill(getmypid(), SIGUSR2); pcntl_signal_dispatch(); }],
    'a filter' => [fn($f) => $kept['filter'] = new CallbackFilterIterator(new ArrayIterator([1]), $f), fn() => iterator_count($kept['filter'])],
    'ticks' => [fn($f) => register_tick_function($f), function () { declare(ticks=1) { $a = 1; } }],
];
foreach ($set as $what => [$sets, $calls]) {
    foreach (['Config::made', 'bound', 'method'] as $make) {
        $counts = [];
        for ($i = 0; $i < 5; $i++) {
            if ($i === 1) { // has what the first one has had, so that the others have not
                $held = new Async\Channel(1);
                $holds = spawnInstance(fn() => $held->recv());
            }
            $counts[] = await(spawnInstance(function () use ($i, $sets, $calls, $make) {
                $i === 0 && $sets($make());
                $before = Config::$count;
                return intact($calls) && count(Config::$seen) === Config::$count && Config::$count > $before;
            }));
        }
        $held->send(1);
        await($holds);
        echo "$what, $make: ", json_encode(array_unique($counts)), ' ', Config::$count, "\n";
    }
    pcntl_signal(SIGUSR2, SIG_DFL);
}

// What an instance has made, and another one that has ended since has run, may have looked up there what is not there any more.
function generator(): Generator { while (true) { yield; Config::$seen[] = str_repeat('x', 20); Config::$count++; } }
function variables(): string { static $n = 0, $list = []; $list[] = str_repeat('x', 100); return ++$n . count($list); }
$runs = [
    'a generator' => [generator(...), fn($g) => $g->next(), function () { $g = generator(); $g->next(); $g->next(); }],
    'a filter of a function' => [fn() => new CallbackFilterIterator(new ArrayIterator([1, 2]), Config::made(...)), fn($it) => iterator_count($it), Config::made(...)],
    'a filter of a closure' => [fn() => new CallbackFilterIterator(new ArrayIterator([1, 2]), Config::made()), fn($it) => iterator_count($it), fn() => Config::made()()],
];
foreach ($runs as $what => [$makes, $other, $own]) {
    $box = new ArrayObject;
    $turn = new Async\Channel(1);
    $one = spawnInstance(function () use ($makes, $own, $box, $turn) {
        $box['made'] = $makes();
        $turn->recv();
        for ($junk = [], $i = 0; $i < 300; $i++) $junk[] = [[str_repeat('z', 16), $i], str_repeat('abcdefgh', 2 + $i % 20)];
        $before = md5(serialize($junk));
        for ($i = 0; $i < 20; $i++) $own();
        return $before === md5(serialize($junk)) && intact($own);
    });
    await(spawnInstance(function () use ($other, $box) { while (!isset($box['made'])) usleep(100); $other($box['made']); unset($box['made']); return 0; }));
    $turn->send(1);
    echo "$what: ", json_encode(await($one)), "\n";
}
// Nor do callables have the static variables of functions then.
$variables = await(spawnInstance(function () { variables(); return variables(...); }));
$junk = array_map(fn($i) => ["a$i" => [$i], 'b' => $i], range(1, 200));
echo $variables(), ' ', $variables(), "\n";
PHP);
?>
--EXPECT--
without opcache: [0] 2 1 a signal, Config::made: [true] 0
a signal, bound: [true] 0
a signal, method: [true] 0
a filter, Config::made: [true] 0
a filter, bound: [true] 0
a filter, method: [true] 0
ticks, Config::made: [true] 0
ticks, bound: [true] 0
ticks, method: [true] 0
a generator: true
a filter of a function: true
a filter of a closure: true
11 22

with opcache: [0] 2 1 a signal, Config::made: [true] 0
a signal, bound: [true] 0
a signal, method: [true] 0
a filter, Config::made: [true] 0
a filter, bound: [true] 0
a filter, method: [true] 0
ticks, Config::made: [true] 0
ticks, bound: [true] 0
ticks, method: [true] 0
a generator: true
a filter of a function: true
a filter of a closure: true
11 22

with its JIT: [0] 2 1 a signal, Config::made: [true] 0
a signal, bound: [true] 0
a signal, method: [true] 0
a filter, Config::made: [true] 0
a filter, bound: [true] 0
a filter, method: [true] 0
ticks, Config::made: [true] 0
ticks, bound: [true] 0
ticks, method: [true] 0
a generator: true
a filter of a function: true
a filter of a closure: true
11 22
