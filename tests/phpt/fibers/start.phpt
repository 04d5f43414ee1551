--TEST--
Where a fiber can be started
--FILE--
<?php
require __DIR__ . '/loop.inc';

// start() from within a function called in run(), but in another coroutine
$q = new Queue; $f = Fiber::create(fn() => print("f\n"));
$q->defer(function () use ($f) { $c = Async\spawn(function () use ($f) { try { $f->start(); } catch (FiberError $e) { echo said($e), "\n"; } }); Async\await($c); });
$q->turn();
// by a native Fiber in run()
$q->defer(function () use ($f) { $n = new Fiber(function () use ($f) { $f->start(); }); $n->start(); });
$q->turn();
var_dump($f->isTerminated());
?>
--EXPECT--
FiberError: Cannot start a fiber outside of FiberScheduler::run()
f
bool(true)
