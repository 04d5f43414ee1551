--TEST--
FIB-3 async.fiber_api=exclusive: fibers exclude coroutines, not each other
--INI--
async.fiber_api=exclusive
--FILE--
<?php
require __DIR__ . '/loop.inc';

$q = new Queue;
try { 
$q->fiber(function() { echo "one\n"; });
$q->turn();
echo "turned\n";
$q->fiber(function() { echo "two\n"; });
$q->turn();
new Fiber(fn() => 1); 
echo "ok\n";
} catch (Throwable $e) { echo said($e), "\n"; }
try { Async\spawn(fn() => print("WRONG spawned\n")); } catch (Throwable $e) { echo said($e), "\n"; }
?>
--EXPECT--
one
turned
two
ok
Async\AsyncException: Cannot spawn: a Fiber exists, and async.fiber_api is "exclusive"
