--TEST--
PRIM-4 awaitAll(), awaitAny(), awaitFirst(), awaitAnyOf(): keys, order, failures, tokens, limits
--INI--
async.seed=0
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{CompositeException, Future, FutureState};
use function Async\{await, awaitAll, awaitAny, awaitAnyOf, awaitFirst, spawn, suspend, timeout};

/** A coroutine that ends after so many turns. */
$after = fn(int $turns, mixed $result) => spawn(function() use ($turns, $result) {
    while ($turns-- > 0) suspend();
    return $result instanceof Throwable ? throw $result : $result;
});
$never = fn() => new Future(new FutureState);
$bad = fn(string $text = 'failure') => new RuntimeException($text);

attempt('all', fn() => awaitAll(['x' => $after(3, 'slow'), 'y' => $after(1, 'quick'), 5 => Future::completed('at once')]));
attempt('all of none', fn() => awaitAll([]));
attempt('all, one fails', fn() => awaitAll([$never(), $after(2, $bad()), $never()]));
attempt('all, one has failed', fn() => awaitAll([$never(), Future::failed($bad())]));
attempt('all, one is cancelled', function() use ($never) { $c = spawn(fn() => suspend()); $c->cancel(); return awaitAll([$never(), $c]); });
attempt('the same twice', fn() => awaitAll(['a' => $c = $after(1, 'one'), 'b' => $c]));
attempt('all, token', fn() => awaitAll([$never()], timeout(1)));
attempt('all, complete token', fn() => awaitAll([$never()], Future::completed()));
attempt('all complete, complete token', fn() => awaitAll([Future::completed(1)], Future::completed()));
attempt('named', fn() => awaitAll(cancellation: null, awaitables: [Future::completed(1)]));

attempt('any', fn() => awaitAny([$after(3, 'slow'), $after(1, 'quick'), $never()]));
attempt('any, complete', fn() => awaitAny([$never(), Future::completed('at once')]));
attempt('any, fails', fn() => awaitAny([$never(), $after(1, $bad())]));
attempt('any of none', fn() => awaitAny([]));
attempt('any, token', fn() => awaitAny([$never()], timeout(1)));

attempt('first', fn() => awaitFirst([$after(1, $bad()), $after(3, 'the first that succeeds'), $never()]));
attempt('first of none', fn() => awaitFirst([]));
attempt('first, token', fn() => awaitFirst([$never(), Future::failed($bad())], timeout(1)));
$failures = function(callable $call) {
    try {
        return $call();
    } catch (CompositeException $e) {
        return [$e->getMessage(), array_map(said(...), $e->getExceptions())];
    }
};
attempt('first, all fail', fn() => $failures(fn() => awaitFirst(['a' => $after(2, $bad('of a')), 'b' => $after(1, $bad('of b'))])));

attempt('two of', fn() => awaitAnyOf(2, ['slow' => $after(5, 1), 'middle' => $after(3, 2), 'quick' => $after(1, 3)]));
attempt('two of, in order', fn() => json_encode(awaitAnyOf(count: 2, awaitables: ['slow' => $never(), 'middle' => $after(3, 2), 'quick' => $after(1, 3)])));
attempt('two of, with failures', fn() => awaitAnyOf(2, ['a' => $after(1, $bad()), 'b' => $after(2, 'b'), 'c' => $after(3, 'c')]));
attempt('two of, too many failures', fn() => $failures(fn() => awaitAnyOf(2, ['a' => $after(1, $bad('of a')), 'b' => $after(2, 'b'), 'c' => $after(3, $bad('of c'))])));
attempt('none of', fn() => awaitAnyOf(0, [$never()]));
attempt('more than there are', fn() => awaitAnyOf(2, [$never()]));
attempt('negative', fn() => awaitAnyOf(-1, [$never()]));
attempt('of itself', fn() => awaitAll([Async\currentCoroutine()]));
attempt('a number', fn() => awaitAll([Future::completed(1), 5]));
attempt('no iterable', fn() => awaitAll(5));

// cancelled while it waits
foreach (['awaitAll', 'awaitAny', 'awaitFirst'] as $function) {
    T\begun($waiting = spawn(fn() => ("Async\\$function")([$never(), $never()])));
    $waiting->cancel();
    attempt("$function, cancelled", fn() => await($waiting));
}
// cancelled after it was woken: what it has waited for is still there
$s = new FutureState;
$f = new Future($s);
T\begun($waiting = spawn(fn() => awaitAll([$f])));
$s->complete('kept');
$waiting->cancel();
attempt('cancelled after it was woken', fn() => await($waiting));
attempt('kept', fn() => await($f));
// many
attempt('ten thousand', fn() => array_sum(awaitAll(array_map(fn($i) => spawn(fn() => $i), range(1, 10000)))));
?>
--EXPECTF--
all: {"x":"slow","y":"quick","5":"at once"}
all of none: []
all, one fails: RuntimeException: failure
all, one has failed: RuntimeException: failure
all, one is cancelled: Async\CancellationException: cancelled at %s:18
the same twice: {"a":"one","b":"one"}
all, token: Async\TimeoutException: The wait was given up after 1 ms
all, complete token: Async\AwaitCancelledException: The wait was cancelled by its token
all complete, complete token: [1]
named: [1]
any: "quick"
any, complete: "at once"
any, fails: RuntimeException: failure
any of none: ValueError: Async\awaitAny(): Argument #1 ($awaitables) must contain at least one awaitable
any, token: Async\TimeoutException: The wait was given up after 1 ms
first: "the first that succeeds"
first of none: ValueError: Async\awaitFirst(): Argument #1 ($awaitables) must contain at least one awaitable
first, token: Async\TimeoutException: The wait was given up after 1 ms
first, all fail: ["2 of 2 awaitables have failed",{"a":"RuntimeException: of a","b":"RuntimeException: of b"}]
two of: {"middle":2,"quick":3}
two of, in order: "{\"middle\":2,\"quick\":3}"
two of, with failures: {"b":"b","c":"c"}
two of, too many failures: ["2 of 3 awaitables have failed",{"a":"RuntimeException: of a","c":"RuntimeException: of c"}]
none of: []
more than there are: ValueError: Async\awaitAnyOf(): Argument #1 ($count) must not be greater than the number of awaitables
negative: ValueError: Async\awaitAnyOf(): Argument #1 ($count) must not be negative
of itself: Async\AsyncException: A coroutine cannot await itself. Coroutine spawned at {main}
a number: TypeError: Async\awaitAll(): Argument #1 ($awaitables) must contain instances of Async\Awaitable only, int given
no iterable: TypeError: Async\awaitAll(): Argument #1 ($awaitables) must be of type Traversable|array, int given
awaitAll, cancelled: Async\CancellationException: cancelled at %s:57
awaitAny, cancelled: Async\CancellationException: cancelled at %s:57
awaitFirst, cancelled: Async\CancellationException: cancelled at %s:57
cancelled after it was woken: Async\CancellationException: cancelled at %s:65
kept: "kept"
ten thousand: 50005000
