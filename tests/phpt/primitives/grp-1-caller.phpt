--TEST--
GRP-1 GRP-2 a group is cancelled with its caller only: clean-up and protected code may use one, and it leaves nothing open
--INI--
async.seed=0
--FILE--
<?php
use Async\Scope;
use function Async\{await, currentScope, delay, group, map, protect, race, spawn, withTimeout};
require getenv('SPINDLE_ROOT') . '/tests/phpt/kit.inc';

function tells(string $name, callable $program): void
{
    try {
        $program();
        echo "$name\n";
    } catch (Throwable $thrown) {
        echo "$name: ", get_class($thrown), ' ', $thrown->getMessage(), $thrown->getPrevious() ? ', and another' : '', "\n";
    }
}
$critical = function (): void {
    echo 'begins, ';
    T\turns(20);
    echo 'ends, ';
};
$waits = fn () => delay(3_600_000);
$cleans = function () use ($critical, $waits): void {
    try {
        $waits();
    } finally {
        withTimeout(60_000, $critical);
    }
};
tells('after a limit', fn () => withTimeout(1, $cleans));
tells('after a failure beside it', fn () => group(function () use ($cleans) {
    $cleaning = spawn($cleans);
    T\begun($cleaning);
    throw new Exception('beside it');
}));
tells('a loser', fn () => race([$cleans, fn () => T\turns(5)]));
tells('map() in a critical section', fn () => withTimeout(1, fn () => protect(function () use ($critical) {
    T\until(fn () => currentScope()->isCancelled());
    map([1], $critical);
})));
tells('a critical section of a group', fn () => withTimeout(1, fn () => protect(fn () => group($critical))));
tells('one that is cancelled', function () use ($cleans) {
    $called = spawn(fn () => group($cleans));
    T\parked($called);
    $called->cancel();
    await($called);
});

// What its code sees.
currentScope()->set('tenant', 'a');
group(fn () => protect(fn () => group(function () {
    echo currentScope()->find('tenant'), ' ', currentScope()->getParentScope() === null ? 'none' : 'one', " above\n";
})));

// A scope below it is closed with it.
group(function () use (&$below) { $below = Scope::inherit(); });
tells('a scope below one that is over', fn () => $below->spawn(fn () => 1));

// A callback for its end that waits is no part of the call. Its failure is not lost.
group(function () {
    currentScope()->onFinally(function () {
        T\turns(5);
        throw new Exception('of a callback');
    });
});
T\turns(50);
?>
--EXPECTF--
begins, ends, after a limit: Async\TimeoutException The call was given up after 1 ms
begins, ends, after a failure beside it: Exception beside it
begins, ends, a loser
begins, ends, map() in a critical section: Async\TimeoutException The call was given up after 1 ms
begins, ends, a critical section of a group: Async\TimeoutException The call was given up after 1 ms
begins, ends, one that is cancelled: Async\CancellationException cancelled at %sgrp-1-caller.php:%d
a one above
a scope below one that is over: Async\AsyncException Coroutine scope is closed

Warning: Unhandled exception in a scope that has failed already: Exception: of a callback in %s
