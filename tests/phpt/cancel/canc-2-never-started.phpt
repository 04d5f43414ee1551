--TEST--
CANC-2 a coroutine that was cancelled before its start ends when what it was to be called with is gone, which may wait
--FILE--
<?php
use Async\CancellationException;
use function Async\{await, delay, spawn, suspend};

require __DIR__ . '/kit.inc';

final class Held
{
    public function __destruct() { suspend(); await($GLOBALS['gate']); echo "gone\n"; }
}
$open = false;
$gate = spawn(function() use (&$open) { while (!$open) delay(1); });
$never = spawn(function() { echo "it runs\n"; }, new Held);
$never->cancel();
T\until(fn() => $never->isSuspended());
T\check('it waits', $never->isSuspended() && !$never->isStarted() && !$never->isCompleted() && str_contains($never->getSuspendLocation(), basename(__FILE__)), $never->getSuspendLocation());
$open = true;
try { await($never); } catch (CancellationException $e) { echo get_class($e), "\n"; }
T\check('it is over', $never->isCancelled() && !$never->isStarted());
// a second cancellation comes to what waits in the destructor
final class Stubborn
{
    public function __destruct() { try { delay(600_000); } catch (CancellationException $e) { echo $e->getMessage(), "\n"; } }
}
$never = spawn(function() { echo "it runs\n"; }, new Stubborn);
$never->cancel(new CancellationException('the first'));
T\until(fn() => $never->isSuspended());
$never->cancel(new CancellationException('the second'));
try { await($never); } catch (CancellationException $e) { echo $e->getMessage(), "\n"; }
?>
--EXPECT--
it waits: yes
gone
Async\CancellationException
it is over: yes
the second
the first
