--TEST--
A callback that waits for what its scheduler can do only after the callback is a deadlock
--FILE--
<?php
require __DIR__ . '/loop.inc';
print_reports();

$q = new Queue;
$q->turn();
try {
    Fiber::suspend(function(Fiber $fiber) use ($q) {
        $q->defer(fn() => $fiber->resume('resumed'));
        echo Async\await(Async\spawn(fn() => $q->turn('c'))), "\n";
    }, $q);
} catch (Error $e) {
    echo said($e), "\n";
}
echo $q->turn('after'), " $q->runs\n";
?>
--EXPECTF--

Warning: Deadlock: coroutine #1 (the script itself) is suspended at %scallback-deadlock.php:10 and waits for await() of coroutine #3 in %s on line 10

Warning: Deadlock: coroutine #3 (spawned at %s:10) is suspended at %sloop.inc:25 and waits for a scheduler in %sloop.inc on line 25
Async\DeadlockError: Deadlock: 2 coroutines wait for what can never happen
resumed 1
reported: Async\DeadlockError: Deadlock: 2 coroutines wait for what can never happen
