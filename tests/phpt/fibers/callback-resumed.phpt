--TEST--
A fiber cannot be resumed while its callback still waits
--FILE--
<?php
require __DIR__ . '/loop.inc';

// the scheduler's run() returns while the callback of Fiber::suspend() waits
$q = new Queue; 
$q->turn();
$f = Fiber::suspend(function (Fiber $f) use ($q) {
    $q->defer(fn() => $f->resume('resumed'));
    $c = Async\spawn(function () use ($q) { return $q->turn('c'); });
    echo Async\await($c), "\n";
}, $q);
echo "$f {$q->runs}\n";
?>
--EXPECTF--

Fatal error: Uncaught FiberError: Cannot resume a fiber that is not suspended in %scallback-resumed.php:8
Stack trace:
#0 %scallback-resumed.php(8): Fiber->resume('resumed')
#1 %sloop.inc(14): {closure}()
#2 [internal function]: Queue->run()
#3 %sloop.inc(25): unknown()
#4 {main}

Next FiberExit: The run() of the FiberScheduler that the fiber waits for has thrown in %sloop.inc:25
Stack trace:
#0 %sloop.inc(25): Fiber::suspend(Object(Closure), Object(Queue))
#1 %scallback-resumed.php(9): Queue->turn('c')
#2 [internal function]: {closure}()
#3 {main}
  thrown in %sloop.inc on line 25
