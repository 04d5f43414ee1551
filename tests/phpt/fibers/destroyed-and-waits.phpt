--TEST--
A finally block of a fiber that is destroyed may wait, but not suspend into a scheduler
--FILE--
<?php
require __DIR__ . '/loop.inc';

$q = new Queue;
$kept = null;
$f = $q->fiber(function () use (&$kept, $q) { try { Fiber::suspend(function($f) use (&$kept) { $kept = $f; }, $q); } finally { echo "f1\n"; usleep(2000); Async\suspend(); echo "f2\n"; Async\delay(1); echo "f3\n"; try { $q->turn(); } catch (FiberError $e) { echo said($e), "\n"; } } });
$f = null;
$q->turn(); $q->turn();
$kept = null;
echo "end\n";
?>
--EXPECT--
f1
f2
f3
FiberError: Cannot suspend in a force-closed fiber
end
