--TEST--
FIB-2 Misuse: another scheduler, wrong arguments
--FILE--
<?php
require __DIR__ . '/loop.inc';

$q = new Queue; $r = new Queue; $kept = null;
$q->fiber(function () use ($q, &$kept) { echo Fiber::suspend(function($f) use (&$kept) { $kept = $f; }, $q), "\n"; });
$q->turn();
$r->defer(function () use (&$kept) { try { $kept->resume(); } catch (FiberError $e) { echo said($e), "\n"; } });
$r->turn();
$r->defer(function () { try { Fiber::suspend(1, 2); } catch (TypeError $e) { echo said($e), "\n"; } try { Fiber::suspend(fn() => 1, new stdClass); } catch (TypeError $e) { echo said($e), "\n"; } try { Fiber::suspend(fn() => 1, new Queue, 3); } catch (ArgumentCountError $e) { echo said($e), "\n"; }
 try { Fiber::create('nofunction'); } catch (TypeError $e) { echo said($e), "\n"; }});
$r->turn();
try { $kept->resume(); } catch (FiberError $e) { echo said($e), "\n"; }
$kept = null;
echo "end\n";
?>
--EXPECT--
FiberError: Cannot resume a fiber that is suspended into another FiberScheduler
TypeError: Fiber::suspend(): Argument #1 ($value) must be a valid callback, no array or string given
TypeError: Fiber::suspend(): Argument #2 must be of type FiberScheduler, stdClass given
ArgumentCountError: Fiber::suspend() expects exactly 2 arguments, 3 given
TypeError: Fiber::create(): Argument #1 ($callback) must be a valid callback, function "nofunction" not found or invalid function name
FiberError: Cannot resume a fiber outside of FiberScheduler::run()
end
