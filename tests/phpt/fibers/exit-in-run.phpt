--TEST--
exit in run()
--FILE--
<?php
require __DIR__ . '/loop.inc';

final class L implements FiberScheduler { public function run(): void { echo "run\n"; exit(3); } }
register_shutdown_function(function() { echo "shutdown\n"; });
try { Fiber::suspend(fn() => 1, new L); } finally { echo "WRONG\n"; }
?>
--EXPECTF--
WRONG
run

Fatal error: Uncaught FiberExit: Nothing can resume the fiber: its last reference was dropped in %sexit-in-run.php:6
Stack trace:
#0 %sexit-in-run.php(6): Fiber::suspend(Object(Closure), Object(L))
#1 {main}
  thrown in %sexit-in-run.php on line 6
shutdown
