--TEST--
CANC-2 the first cancellation wins while it is pending; an exception of another kind replaces it
--FILE--
<?php
use Async\CancellationException as Cancelled;
use function Async\{delay, protect, spawn};

require __DIR__ . '/kit.inc';

$outcome = function(Closure $task, Closure $meanwhile): string {
    $c = spawn($task);
    T\begun($c);
    $meanwhile($c);
    $e = T\failure($c);
    $all = [];
    for (; $e; $e = $e->getPrevious()) $all[] = (new ReflectionClass($e))->getShortName() . ' ' . $e->getMessage();
    return implode(' < ', $all) . "\n";
};
$twice = function($c) { $c->cancel(new Cancelled('first')); $c->cancel(new Cancelled('second')); };
$once = fn($c) => $c->cancel(new Cancelled('reason'));

echo $outcome(fn() => delay(600_000), $twice);
echo $outcome(fn() => protect(fn() => T\turns(20)), $twice);
echo $outcome(function() { try { delay(600_000); } finally { throw new LogicException('of the cleanup'); } }, $once);
echo $outcome(function() { try { delay(600_000); } catch (Cancelled $e) { throw new LogicException('wrapped', 0, $e); } }, $once);
echo $outcome(function() { try { delay(600_000); } catch (Cancelled) { throw new Cancelled('its own'); } }, $once);
echo $outcome(function() { throw new Cancelled('thrown by hand'); }, fn() => null);
// a second one while it cleans up is a new one
$cleans = false;
echo $outcome(function() use (&$cleans) { try { delay(600_000); } finally { $cleans = true; delay(600_000); } }, function($c) use (&$cleans) {
    $c->cancel(new Cancelled('first'));
    T\until(function() use (&$cleans) { return $cleans; });
    $c->cancel(new Cancelled('second'));
});
?>
--EXPECT--
CancellationException first
CancellationException first
LogicException of the cleanup < CancellationException reason
LogicException wrapped < CancellationException reason
CancellationException its own
CancellationException thrown by hand
CancellationException second < CancellationException first
