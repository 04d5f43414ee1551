--TEST--
start() waits for a fiber that blocks after the script
--FILE--
<?php
require __DIR__ . '/loop.inc';

// at the end the scheduler starts a fiber that blocks
$q = new Queue;
$q->defer(fn() => 0);
$q->turn();
$m = null;
$q->defer(function() use (&$m) { $m->resume(); });
$q->defer(function() use ($q) { echo "starts\n"; Fiber::create(function() { try { echo "in\n"; usleep(20000); echo "slept\n"; } finally { echo "finally\n"; } })->start(); echo "start() returned\n"; });
Fiber::suspend(function($f) use (&$m) { $m=$f; }, $q);
echo "main end\n";
?>
--EXPECT--
main end
starts
in
slept
finally
start() returned
