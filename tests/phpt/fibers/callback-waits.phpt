--TEST--
A fiber is resumed when its callback, which waits, has returned
--FILE--
<?php
require __DIR__ . '/loop.inc';

// the enqueue callback registers, then does I/O; the scheduler is running for another coroutine
class Loop extends Queue { public $end=false; public function run(): void { while (!$this->end) { if ($this->deferred) (array_shift($this->deferred))(); else Async\suspend(); } } }
$q = new Loop;
$other = Async\spawn(function() use ($q) { for ($i=0;$i<10;$i++) $q->turn(); });
Async\suspend();
try {
echo Fiber::suspend(function($f) use ($q) { $q->defer(fn() => $f->resume('ok')); usleep(1000); }, $q), "\n";
} catch (Throwable $e) { echo said($e), "\n"; }
Async\await($other);
$q->end = true;
?>
--EXPECTF--

Fatal error: Class Loop cannot extend final class Queue in %stests/phpt/fibers/callback-waits.php on line 5
