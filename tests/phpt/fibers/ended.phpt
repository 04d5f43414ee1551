--TEST--
A fiber that has ended: no result, no second life, and the cycle collector works
--FILE--
<?php
require __DIR__ . '/loop.inc';

$q = new Queue;
$f = $q->fiber(function () use ($q) { $q->turn(); return 5; });
$q->turn(); 
try { var_dump($f->getReturn()); } catch (Error $e) { echo said($e), "\n"; }
$q->turn(); $q->turn();
try { var_dump($f->getReturn()); } catch (Error $e) { echo said($e), "\n"; }
var_dump(gc_status()['runs'] >= 0, gc_enabled());
for ($i = 0; $i < 30000; $i++) { $a = new stdClass; $a->a = $a; }
var_dump(gc_status()['runs'] > 0);
var_dump($f->isTerminated(), $f->isRunning(), $f->isSuspended(), $f->isStarted());
foreach (['start', 'resume'] as $m) try { $f->$m(); } catch (FiberError $e) { echo said($e), "\n"; }
try { $f->throw(new Exception); } catch (FiberError $e) { echo said($e), "\n"; }
?>
--EXPECT--
FiberError: Cannot get fiber return value: A fiber of a scheduler returns none
FiberError: Cannot get fiber return value: A fiber of a scheduler returns none
bool(true)
bool(true)
bool(true)
bool(true)
bool(false)
bool(false)
bool(true)
FiberError: Cannot start a fiber outside of FiberScheduler::run()
FiberError: Cannot resume a fiber that is not suspended
FiberError: Cannot throw into a fiber that is not suspended
