--TEST--
What a cancelled fiber is resumed with is not given to its next suspension
--FILE--
<?php
require __DIR__ . '/loop.inc';

// cancelled, and resumed in the same turn before it runs: stale value for the next suspend?
final class W implements FiberScheduler { public $d=[]; public bool $ends=false; public ?Fiber $held=null;
 public function run(): void { while (!$this->ends) { if ($this->d) (array_shift($this->d))(); else Async\suspend(); } } }
$w = new W; $c = null;
$c = Async\spawn(function () use ($w) {
    try { $x = Fiber::suspend(function($f) use ($w) { $w->held = $f; }, $w); echo "first got "; var_dump($x); }
    catch (Async\AsyncCancellation $e) { echo "first cancelled\n"; }
    Async\protect(function () use ($w) {
      $x = Fiber::suspend(function($f) use ($w) { $w->d[] = fn() => $f->resume('SECOND'); }, $w);
      echo "second got "; var_dump($x);
    });
    $w->ends = true;
});
while (!$w->held?->isSuspended()) Async\suspend();
$w->d[] = function () use ($w, $c) { $c->cancel(); echo "isSuspended after cancel: "; var_dump($w->held->isSuspended()); if ($w->held->isSuspended()) { $w->held->resume('FIRST'); echo "resume returned\n"; } };
try { Async\await($c); } catch (Throwable $e) { echo said($e), "\n"; }
?>
--EXPECT--
isSuspended after cancel: bool(true)
first cancelled
resume returned
second got string(6) "SECOND"
