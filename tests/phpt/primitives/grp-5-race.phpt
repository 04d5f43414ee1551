--TEST--
GRP-5 race(): winners, losers, failures, staggered starts, wrong arguments
--INI--
async.seed=0
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{CancellationException, CompositeException};
use function Async\{await, currentCoroutine, currentScope, delay, getCoroutines, race, spawn, suspend};

function for_ever(): void { delay(100_000); }
function loser(string $name): Closure { return function() use ($name) { try { for_ever(); } finally { suspend(); echo "  $name ends\n"; } }; }
function fails(string $text): Closure { return fn() => throw new DomainException($text); }

attempt('one', fn() => race([fn() => 'only']));
attempt('the quick one', fn() => race([loser('slow'), function() { suspend(); suspend(); suspend(); return 'quick'; }]));
attempt('a result of null', fn() => race([loser('slow'), function() { suspend(); suspend(); }]));
attempt('after failures', fn() => race([fails('a'), fails('b'), function() { for ($i = 9; $i--;) suspend(); return 'it'; }]));
attempt('its children, too', fn() => race([function() { spawn(loser('a child of the loser')); T\turns(2); for_ever(); }, function() { T\turns(4); return 'it'; }]));
attempt('the winner waits for its own', fn() => race([function() { spawn(function() { suspend(); echo "  a child of the winner ends\n"; }); return 'it'; }]));
try {
    race(['x' => fails('a'), 'y' => function() { suspend(); throw new LogicException('b'); }]);
} catch (CompositeException $e) {
    echo $e->getMessage(), ': ', json_encode(array_map(fn($e) => $e->getMessage(), $e->getExceptions())), "\n";
}
attempt('a child fails', fn() => race([function() { spawn(fails('of a child')); for_ever(); }, function() { T\turns(4); return 'the other one'; }]));
attempt('one that is cancelled counts as failed', fn() => race([function() { currentScope()->cancel(); for_ever(); }, function() { T\turns(4); return 'the other one'; }]));

echo "-- staggered\n";
$begun = [];
$task = function(string $name, Closure $do) use (&$begun) { return function() use ($name, $do, &$begun) { $begun[] = $name; return $do() ?? $name; }; };
attempt('not needed', function() use ($task, &$begun) { return [race([$task('a', fn() => null), $task('b', fn() => null)], 100_000), $begun]; });
$begun = [];
attempt('in time', function() use ($task, &$begun) { return [race([$task('a', for_ever(...)), $task('b', for_ever(...)), $task('c', fn() => null)], 3), $begun]; });
$begun = [];
attempt('or when one has failed', function() use ($task, &$begun) { return [race([$task('a', fails('a')), $task('b', fails('b')), $task('c', fn() => null)], 100_000), $begun]; });
attempt('all have', fn() => race([fails('a'), fails('b')], 100_000));
attempt('a generator, as far as needed', fn() => race((function() { for ($i = 0; ; $i++) { echo "  asked for $i\n"; yield $i < 2 ? fails("no $i") : fn() => "it is $i"; } })(), 100_000));

echo "-- arguments and cancellation\n";
attempt('none', fn() => race([]));
attempt('no callable', fn() => race([loser('first'), 'nothing']));
attempt('no callable, later', fn() => race([function() { T\turns(2); return 'never'; }, 5], 1));
attempt('negative', fn() => race([for_ever(...)], -1));
attempt('no iterable', fn() => race('x'));
attempt('the iterator throws', fn() => race((function() { yield for_ever(...); throw new DomainException('of the iterator'); })()));
/** Cancels the first coroutine that has not started. */
$before_start = function() { foreach (getCoroutines() as $one) if (!$one->isStarted()) { $one->cancel(); return; } };
foreach ([0, 100_000] as $stagger) {
    attempt('one before its start', function() use ($before_start, $stagger) { spawn($before_start); return race([fn() => 'it', fn() => 'it'], $stagger); });
}
try {
    spawn($before_start);
    race([fails('it'), fails('it')]);
} catch (CompositeException $e) {
    $all = array_map(fn($e) => $e->getMessage(), $e->getExceptions());
    sort($all);
    echo $e->getMessage(), ': ', json_encode($all), "\n";
}
foreach ([0, 100_000] as $stagger) {
    $caller = spawn(race(...), [loser('a'), for_ever(...)], $stagger);
    T\parked($caller);
    T\turns(2);
    $caller->cancel(new CancellationException('by the test'));
    attempt('cancelled', fn() => await($caller));
}
?>
--EXPECT--
one: "only"
  slow ends
the quick one: "quick"
  slow ends
a result of null: null
after failures: "it"
  a child of the loser ends
its children, too: "it"
  a child of the winner ends
the winner waits for its own: "it"
All 2 tasks have failed: {"x":"a","y":"b"}
a child fails: "the other one"
one that is cancelled counts as failed: "the other one"
-- staggered
not needed: ["a",["a"]]
in time: ["c",["a","b","c"]]
or when one has failed: ["c",["a","b","c"]]
all have: Async\CompositeException: All 2 tasks have failed
  asked for 0
  asked for 1
  asked for 2
a generator, as far as needed: "it is 2"
-- arguments and cancellation
none: ValueError: Async\race(): Argument #1 ($tasks) must contain at least one task
no callable: TypeError: Async\race(): Argument #1 ($tasks) must contain callables only, string given
no callable, later: TypeError: Async\race(): Argument #1 ($tasks) must contain callables only, int given
negative: ValueError: Async\race(): Argument #2 ($stagger) must not be negative
no iterable: TypeError: Async\race(): Argument #1 ($tasks) must be of type Traversable|array, string given
the iterator throws: DomainException: of the iterator
one before its start: "it"
one before its start: "it"
All 2 tasks have failed: ["The task was cancelled before it started","it"]
  a ends
cancelled: Async\CancellationException: by the test
  a ends
cancelled: Async\CancellationException: by the test
