--TEST--
Reflection of fibers and schedulers
--FILE--
<?php
require __DIR__ . '/loop.inc';

$q = new Queue;
$f = $q->fiber(function () use ($q) { $q->turn(); });
$r = new ReflectionFiber($f);
try { var_dump($r->getTrace()); } catch (Error $e) { echo said($e), "\n"; }
$q->turn();
var_dump($r->isSuspended(), $r->isRunning(), $r->isTerminated(), $r->getExecutingLine(), basename($r->getExecutingFile()), count($r->getTrace()));
$s = new ReflectionFiberScheduler($q);
var_dump($s->getFiberScheduler() === $q, $s->isRunning(), $s->isSuspended(), get_class($s->getFiber()));
echo count($s->getTrace()), "\n";
try { $s->getCallable(); } catch (Error $e) { echo said($e), "\n"; }
try { new ReflectionFiberScheduler(new Queue); } catch (ReflectionException $e) { echo said($e), "\n"; }
$q->turn(); $q->turn();
var_dump($r->isTerminated());
$fs = $s->getFiber();
try { $fs->start(); } catch (Error $e) { echo said($e), "\n"; }
try { $fs->resume(); } catch (Error $e) { echo said($e), "\n"; }
var_dump($fs->isRunning(), $fs->isStarted());
$n = new ReflectionFiber(new Fiber(fn() => 1));
var_dump($n->isSuspended(), $n->isRunning(), $n->isTerminated());
?>
--EXPECT--
Error: Cannot fetch information from a fiber that has not been started or is terminated
bool(true)
bool(false)
bool(false)
int(25)
string(8) "loop.inc"
int(4)
bool(true)
bool(true)
bool(false)
string(5) "Fiber"
4
Error: Cannot fetch the callable from a fiber that has terminated
ReflectionException: The FiberScheduler has not been used to suspend a fiber
bool(true)
FiberError: Cannot start a fiber outside of FiberScheduler::run()
FiberError: Cannot resume a fiber that is not suspended
bool(true)
bool(true)
bool(false)
bool(false)
bool(false)
