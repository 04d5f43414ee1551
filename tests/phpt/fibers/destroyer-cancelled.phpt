--TEST--
What a fiber throws is reported if who destroys it was cancelled
--FILE--
<?php
require __DIR__ . '/loop.inc';

// destroyer is cancelled while the fiber's finally blocks; the exception of finally
print_reports();
$q = new Queue; $kept=null;
$q->fiber(function() use ($q,&$kept) { try { Fiber::suspend(function($f) use (&$kept) { $kept=$f; }, $q); } finally { echo "finally\n"; usleep(5000); echo "finally 2\n"; throw new Exception('of finally'); } });
$q->turn(); $q->turn();
$c = Async\spawn(function() use (&$kept) { try { $kept = null; echo "destroyed\n"; Async\suspend(); } catch (Throwable $e) { echo "c: ", said($e), "\n"; } });
Async\suspend(); Async\suspend();
$c->cancel();
try { Async\await($c); } catch (Throwable $e) { echo said($e), "\n"; }
usleep(20000);
echo "end\n";
?>
--EXPECTF--
finally
c: Async\CancellationException: cancelled at %sdestroyer-cancelled.php:11
finally 2
reported: Exception: of finally
