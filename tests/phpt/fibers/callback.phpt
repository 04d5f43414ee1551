--TEST--
The callback of Fiber::suspend() may wait, and cannot suspend into a scheduler
--FILE--
<?php
require __DIR__ . '/loop.inc';

// scheduler ends inside the callback of Fiber::suspend()
$q = new Queue; $q->turn(); 
$other = new Queue;
Fiber::suspend(function (Fiber $f) use ($q, $other) {
    // nested: suspend not allowed; but drop references, run gc
    try { $q->turn(); } catch (FiberError $e) { echo said($e), "\n"; }
    $q->defer(fn() => $f->resume(3));
    gc_collect_cycles();
}, $q);
echo "ok\n";
// a callback in which coroutine switches happen, and scheduler ends meanwhile
$q2 = new Queue;
$q2->turn();
Fiber::suspend(function (Fiber $f) use ($q2) {
    for ($i = 0; $i < 5; $i++) Async\suspend();
    echo "runs {$q2->runs}\n";
    $q2->defer(fn() => $f->resume(4));
}, $q2);
echo "ok2 {$q2->runs}\n";
?>
--EXPECT--
FiberError: Cannot suspend within the callback of Fiber::suspend()
ok
runs 1
ok2 1
