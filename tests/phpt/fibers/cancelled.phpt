--TEST--
A coroutine that is cancelled in Fiber::suspend() may suspend again
--FILE--
<?php
require __DIR__ . '/loop.inc';
use function T\until;
use function T\turns;

// A scheduler that waits until it is told to end, so that a fiber can be suspended into it for long.
final class Waiting implements FiberScheduler { public array $d = []; public bool $ends = false; public ?Fiber $held = null;
    public function run(): void { while (!$this->ends) { if ($this->d) (array_shift($this->d))(); else Async\suspend(); } }
    public function hold(): mixed { return Fiber::suspend(function(Fiber $f) { $this->held = $f; }, $this); } }
$w = new Waiting;
$c = Async\spawn(function () use ($w) {
    try { $w->hold(); echo "WRONG\n"; } catch (Async\AsyncCancellation $e) { echo get_class($e), "\n"; } finally { echo "finally\n"; }
    return $w->hold();
});
until(fn() => $w->held?->isSuspended());
$first = $w->held;
$c->cancel();
until(fn() => $w->held->isSuspended() && !$c->isCancellationRequested() || true);
turns();
$w->d[] = fn() => $w->held->resume('resumed');
try { var_dump(Async\await($c)); } catch (Async\AsyncCancellation $e) { echo "cancelled\n"; }
var_dump($c->isCompleted(), $first === $w->held);
$w->ends = true;
?>
--EXPECT--
Async\CancellationException
finally
string(7) "resumed"
bool(true)
bool(true)
