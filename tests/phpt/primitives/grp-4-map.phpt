--TEST--
GRP-4 map(): keys and order, limits, generators, failures of all kinds, tokens, wrong arguments
--INI--
async.seed=0
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{CancellationException, Channel};
use function Async\{await, awaitAll, awaitAllSettled, awaitFirst, currentCoroutine, currentScope, delay, map, race, spawn, suspend, timeout};

function for_ever(): void { delay(100_000); }
/** 1, 2, 3, … without an end. */
function numbers(): Generator { for ($i = 1; ; $i++) yield "k$i" => $i; }

attempt('keys and order', fn() => map(['x' => 3, 7 => 1, 'y' => 2], function($turns, $key) { while ($turns--) suspend(); return "$key!"; }));
attempt('nothing', fn() => map([], fn() => print("never\n")));
attempt('null and false', fn() => map([1, 2], fn($i) => $i === 1 ? null : false));
attempt('a callback without parameters', fn() => map([1, 2], fn() => func_num_args()));
attempt('an internal one', fn() => map(['a' => 'b'], 'max'));
attempt('by name', fn() => map(callback: fn($i) => $i * 2, items: [1, 2], concurrency: 1));
attempt('keys that come twice', fn() => map((function() { yield 'k' => 1; yield 'k' => 2; })(), fn($i) => $i));
attempt('an aggregate', fn() => map(new ArrayObject(['a' => 1]), fn($i) => $i + 1));
$full = function($value) { yield PHP_INT_MAX => $value; yield null => $value; };
attempt('no next key is left', fn() => map($full(1), fn($i) => $i));
attempt('nor of awaitables', fn() => awaitAll($full(spawn(fn() => 1))));
attempt('nor of settled ones', fn() => awaitAllSettled($full(spawn(fn() => 1))));
attempt('nor of tasks', fn() => race($full(fn() => throw new DomainException)));
attempt('nor of failures', function() use ($full) { $one = spawn(fn() => throw new DomainException); return awaitFirst($full($one)); });
foreach ([1, 2, 5] as $concurrency) {
    $running = $most = $read = $ahead = 0;
    $items = (function() use (&$read) { for ($i = 0; $i < 9; $i++) { $read++; yield $i; } })();
    $sum = array_sum(map($items, function($i) use (&$running, &$most, &$read, &$ahead) {
        $most = max($most, ++$running);
        $ahead = max($ahead, $read - $i);
        for ($turns = $i % 3; $turns >= 0; $turns--) suspend();
        $running--;
        return $i;
    }, $concurrency));
    echo "$concurrency at a time: $sum, at most $most, ", $ahead <= $concurrency + $most ? 'few' : $ahead, " read ahead\n";
}

echo "-- arguments\n";
attempt('negative', fn() => map([1], fn() => 1, -1));
attempt('no callable', fn() => map([1], 'nothing'));
attempt('no iterable', fn() => map(1, fn() => 1));
attempt('no token', fn() => map([1], fn() => 1, 0, 'x'));
$value = [1];
attempt('by reference', function() use (&$value) { error_reporting(E_ALL & ~E_WARNING); map($value, function(&$i) { $i = 2; }); error_reporting(E_ALL); return $value; });

echo "-- failures\n";
$cleaned = 0;
$endless = function() use (&$cleaned) { try { for_ever(); } finally { $cleaned++; } };
attempt('the first one cancels the rest', fn() => map([1, 2, 3], function($i) use ($endless) { if ($i < 3) $endless(); for ($turns = 5; $turns--;) suspend(); throw new DomainException("of $i"); }));
echo "cleaned $cleaned\n";
attempt('of what a callback has spawned', fn() => map([1], function() { spawn(fn() => throw new DomainException("a child's")); }));
attempt('while it waits for room', fn() => map(numbers(), function($i) { if ($i === 2) throw new DomainException('of 2'); for_ever(); }, 2));
attempt('of the generator', fn() => map((function() { yield 1; yield 2; throw new DomainException("the generator's"); })(), for_ever(...)));
attempt('of its cleanup', fn() => map((function() { try { yield 1; yield 2; } finally { echo "  the generator ends\n"; } })(), fn() => throw new DomainException('first'), 1));
attempt('of getIterator()', fn() => map(new class implements IteratorAggregate { function getIterator(): Iterator { throw new DomainException('none'); } }, fn() => 1));
attempt('a callback that is cancelled has no result', fn() => map([1, 2], function($i) { if ($i === 1) currentCoroutine()->cancel(); suspend(); return $i; }));
attempt('a scope that is cancelled', fn() => map([1, 2], function($i) { if ($i === 2) currentScope()->cancel(new CancellationException('all')); for_ever(); }));

echo "-- tokens\n";
$channel = new Channel;
attempt('a time', fn() => map([1, 2], for_ever(...), 0, timeout(5)));
attempt('while it waits for room', fn() => map(numbers(), for_ever(...), 1, timeout(5)));
attempt('one that is complete', function() { $token = spawn(fn() => 1); await($token); return map([1, 2], for_ever(...), cancellation: $token); });
attempt('one that comes too late', fn() => map([1, 2], fn($i) => $i, 0, timeout(100_000)));
$caller = spawn(fn() => map(numbers(), for_ever(...), 3));
T\parked($caller);
$caller->cancel(new CancellationException('by the test'));
attempt('the caller is cancelled', fn() => await($caller));

echo "-- many\n";
$once = fn() => array_sum(map((function() { for ($i = 0; $i < 1000; $i++) yield $i; })(), fn($i) => $i, 10));
$once();
gc_collect_cycles();
$before = memory_get_usage();
for ($i = 0; $i < 50; $i++) $once();
gc_collect_cycles();
echo memory_get_usage() - $before < 5000 ? "no leak\n" : 'leaked ' . memory_get_usage() - $before . "\n";
echo count(map(range(1, 100_000), fn($i) => $i)), "\n";
map([1], function() { exit("an exit\n"); });
echo "never\n";
?>
--EXPECT--
keys and order: {"x":"x!","7":"7!","y":"y!"}
nothing: []
null and false: [null,false]
a callback without parameters: [2,2]
an internal one: {"a":"b"}
by name: [2,4]
keys that come twice: {"k":2}
an aggregate: {"a":2}
no next key is left: Error: Cannot add element to the array as the next element is already occupied
nor of awaitables: Error: Cannot add element to the array as the next element is already occupied
nor of settled ones: Error: Cannot add element to the array as the next element is already occupied
nor of tasks: Error: Cannot add element to the array as the next element is already occupied
nor of failures: Error: Cannot add element to the array as the next element is already occupied
1 at a time: 36, at most 1, few read ahead
2 at a time: 36, at most 2, few read ahead
5 at a time: 36, at most 5, few read ahead
-- arguments
negative: ValueError: Async\map(): Argument #3 ($concurrency) must not be negative
no callable: TypeError: Async\map(): Argument #2 ($callback) must be a valid callback, function "nothing" not found or invalid function name
no iterable: TypeError: Async\map(): Argument #1 ($items) must be of type Traversable|array, int given
no token: TypeError: Async\map(): Argument #4 ($cancellation) must be of type ?Async\Awaitable, string given
by reference: [1]
-- failures
the first one cancels the rest: DomainException: of 3
cleaned 2
of what a callback has spawned: DomainException: a child's
while it waits for room: DomainException: of 2
of the generator: DomainException: the generator's
  the generator ends
of its cleanup: DomainException: first
of getIterator(): DomainException: none
a callback that is cancelled has no result: Async\AsyncException: The call for item 0 was cancelled, and has no result
a scope that is cancelled: Async\CancellationException: all
-- tokens
a time: Async\TimeoutException: The wait was given up after 5 ms
while it waits for room: Async\TimeoutException: The wait was given up after 5 ms
one that is complete: Async\AwaitCancelledException: The wait was cancelled by its token
one that comes too late: [1,2]
the caller is cancelled: Async\CancellationException: by the test
-- many
no leak
100000
an exit
