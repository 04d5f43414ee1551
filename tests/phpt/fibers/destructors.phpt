--TEST--
Destructors suspend into schedulers
--FILE--
<?php
require __DIR__ . '/loop.inc';

class D { function __construct(public $q) {} function __destruct() { echo "d1\n"; $this->q->turn(); echo "d2\n"; } }
$q = new Queue;
$d = new D($q); $d = null;
$q->fiber(function () use ($q) { $d = new D($q); throw new Exception('x'); });
try { $q->turn(); $q->turn(); $q->turn(); } catch (Throwable $e) { echo said($e), "\n"; }
?>
--EXPECT--
d1
d2
d1
d2
FiberExit: The run() of the FiberScheduler that the fiber waits for has thrown after Exception: x
