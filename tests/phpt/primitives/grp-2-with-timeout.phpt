--TEST--
GRP-2 withTimeout(): the limit, at once and never; nested ones; failures on the way; wrong arguments
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{BoundedScope, CancellationException, TimeoutException};
use function Async\{await, currentCoroutine, currentScope, delay, spawn, suspend, timeout, withTimeout};

function for_ever(): void { delay(100_000); }

attempt('in time', fn() => withTimeout(100_000, fn() => 'a result'));
attempt('named', fn() => withTimeout(block: fn($a, $b) => [$a, $b], milliseconds: 100_000, b: 1, a: 2));
attempt('positional', fn() => withTimeout(100_000, fn(...$all) => $all, 1, 2));
attempt('the longest', fn() => withTimeout(PHP_INT_MAX, fn() => 'a result'));
attempt('negative', fn() => withTimeout(-1, fn() => print("never\n")));
attempt('no number', fn() => withTimeout('x', fn() => print("never\n")));
attempt('no callable', fn() => withTimeout(1, 'nothing'));
attempt('no block', fn() => withTimeout(1));

attempt('over', fn() => withTimeout(5, for_ever(...)));
attempt('over, in what it has spawned', fn() => withTimeout(5, function() { spawn(function() { try { for_ever(); } finally { suspend(); echo "  cleaned\n"; } }); }));
attempt('over, in a blocking call', fn() => withTimeout(5, fn() => sleep(100)));
attempt('nothing, without a wait', fn() => withTimeout(0, fn() => 'a result'));
attempt('nothing, with a wait', fn() => withTimeout(0, for_ever(...)));
attempt('over while code runs', fn() => withTimeout(1, function() {
    $limit = hrtime(true) + 2_000_000;
    while (hrtime(true) < $limit);
    for_ever();
}));
attempt('it swallows the cancellation', fn() => withTimeout(5, function() { try { for_ever(); } catch (CancellationException) { return 'too late'; } }));
attempt('what cancels says why', function() {
    try {
        withTimeout(5, function() { try { for_ever(); } catch (CancellationException $e) { echo '  ', said($e), "\n"; throw $e; } });
    } catch (TimeoutException $e) {
        return [$e->getLine() === __LINE__ - 2, basename($e->getFile()), $e->getPrevious()];
    }
});

echo "-- failures\n";
attempt('before', fn() => withTimeout(100_000, fn() => throw new DomainException('its own')));
attempt('of a child', fn() => withTimeout(100_000, function() { spawn(fn() => throw new DomainException("a child's")); for_ever(); }));
attempt('of the cleanup', fn() => withTimeout(5, function() { try { for_ever(); } catch (CancellationException) { throw new DomainException("the cleanup's"); } }));

echo "-- nested\n";
attempt('the outer one', fn() => withTimeout(5, function() {
    try { withTimeout(100_000, for_ever(...)); } catch (TimeoutException) { echo "  WRONG\n"; } finally { echo "  the inner one ends\n"; }
}));
attempt('the inner one', fn() => withTimeout(100_000, function() {
    try { withTimeout(5, for_ever(...)); } catch (TimeoutException $e) { return 'caught'; }
}));
attempt('of a scope', function() {
    $scope = (new BoundedScope)->withTimeout(5);
    $caller = $scope->spawn(fn() => withTimeout(100_000, for_ever(...)));
    try { await($caller); } catch (CancellationException $e) { return get_class($e->getPrevious()); }
});
attempt('of an await inside', fn() => withTimeout(100_000, fn() => await(spawn(for_ever(...)), timeout(5))));

attempt('code that asks', fn() => withTimeout(5, function() {
    try { for_ever(); } catch (CancellationException) { echo '  in the block: ', json_encode(currentCoroutine()->isCancellationRequested()), "\n"; }
}));
echo 'and after it: ', json_encode(currentCoroutine()->isCancellationRequested()), "\n";

echo "-- cancelled\n";
$caller = spawn(fn() => withTimeout(100_000, for_ever(...)));
T\parked($caller);
$caller->cancel(new CancellationException('by the test'));
attempt('the caller', fn() => await($caller));
$seen = false;
$block = function() use (&$seen) { try { for_ever(); } finally { $seen = true; while ($seen === true) suspend(); } };
$caller = spawn(fn() => withTimeout(5, $block));
T\until(function() use (&$seen) { return $seen; });
$caller->cancel(new CancellationException('by the test'));
suspend();
$seen = 1;
attempt('the caller, when the time has passed', fn() => await($caller));
?>
--EXPECT--
in time: "a result"
named: [2,1]
positional: [1,2]
the longest: "a result"
negative: ValueError: Async\withTimeout(): Argument #1 ($milliseconds) must be greater than or equal to 0
no number: TypeError: Async\withTimeout(): Argument #1 ($milliseconds) must be of type int, string given
no callable: TypeError: Async\withTimeout(): Argument #2 ($block) must be a valid callback, function "nothing" not found or invalid function name
no block: ArgumentCountError: Async\withTimeout() expects at least 2 arguments, 1 given
over: Async\TimeoutException: The call was given up after 5 ms
  cleaned
over, in what it has spawned: Async\TimeoutException: The call was given up after 5 ms
over, in a blocking call: Async\TimeoutException: The call was given up after 5 ms
nothing, without a wait: "a result"
nothing, with a wait: Async\TimeoutException: The call was given up after 0 ms
over while code runs: Async\TimeoutException: The call was given up after 1 ms
it swallows the cancellation: Async\TimeoutException: The call was given up after 5 ms
  Async\CancellationException: cancelled because the time limit of its scope has passed after Async\TimeoutException: The scope was given up after 5 ms
what cancels says why: [true,"grp-2-with-timeout.php",null]
-- failures
before: DomainException: its own
of a child: DomainException: a child's
of the cleanup: Async\TimeoutException: The call was given up after 5 ms after DomainException: the cleanup's
-- nested
  the inner one ends
the outer one: Async\TimeoutException: The call was given up after 5 ms
the inner one: "caught"
of a scope: "Async\\TimeoutException"
of an await inside: Async\TimeoutException: The wait was given up after 5 ms
  in the block: true
code that asks: Async\TimeoutException: The call was given up after 5 ms
and after it: false
-- cancelled
the caller: Async\CancellationException: by the test
the caller, when the time has passed: Async\CancellationException: by the test
