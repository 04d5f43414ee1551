--TEST--
A callback of Fiber::suspend() that suspends a Fiber of PHP's, which another coroutine resumes
--FILE--
<?php
require __DIR__ . '/loop.inc';
use function Async\{await, spawn, suspend};

$q = new Queue; $native = null;
$first = spawn(function() use ($q, &$native) {
    $native = new Fiber(function() use ($q) {
        try {
            Fiber::suspend(fn() => Fiber::suspend(), $q);
            echo "WRONG: resumed\n";
        } catch (FiberError $e) {
            echo said($e), "\n";
        }
    });
    $native->start();
    suspend();
    suspend();
    echo 'the first coroutine: ', $q->turn('its own value'), "\n";
});
$second = spawn(function() use (&$native) {
    $native->resume();
    echo "the second coroutine goes on\n";
});
await($second);
await($first);
?>
--EXPECT--
FiberError: Cannot suspend: the callback of Fiber::suspend() was resumed in another coroutine
the second coroutine goes on
the first coroutine: its own value
