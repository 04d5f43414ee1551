--TEST--
async.fiber_api=exclusive: main may suspend into a scheduler first
--INI--
async.fiber_api=exclusive
--FILE--
<?php
require __DIR__ . '/loop.inc';

// first use is a two-argument suspend of main
$q = new Queue;
try { $q->turn(); echo "turned\n"; $f = Fiber::create(fn() => print("x\n")); $q->defer(fn() => $f->start()); $q->turn(); echo "ok\n"; } catch (Throwable $e) { echo said($e), "\n"; }
?>
--EXPECT--
turned
x
ok
