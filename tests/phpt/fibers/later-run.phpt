--TEST--
A fiber stays suspended when run() returns, and a later run() resumes it
--FILE--
<?php
require __DIR__ . '/loop.inc';

$q = new Queue; $kept = null;
$q->fiber(function () use ($q, &$kept) { echo Fiber::suspend(function($f) use (&$kept) { $kept = $f; }, $q), "\n"; });
$q->turn();
try { Fiber::suspend(fn() => 0, $q); } catch (FiberError $e) { echo said($e), "\n"; }
catch (FiberExit $e) { echo said($e), "\n"; }
var_dump($kept->isSuspended(), $q->runs);
$q->defer(fn() => $kept->resume('by a later run'));
$q->turn();
var_dump($kept->isTerminated(), $q->runs);
?>
--EXPECT--
FiberExit: Nothing can resume the fiber: its last reference was dropped
bool(true)
int(1)
by a later run
bool(true)
int(2)
