--TEST--
What a fiber throws after it has waited reaches the scheduler that has started it
--FILE--
<?php
require __DIR__ . '/loop.inc';

print_reports();
// an exception of a fiber that blocks reaches the scheduler that has resumed it, and no other coroutine
final class T implements FiberScheduler { public $d = []; public function run(): void { while ($this->d) { try { (array_shift($this->d))(); } catch (Throwable $e) { echo "in run(): ", said($e), "\n"; } } } }
$t = new T; $q = new Queue;
$f = Fiber::create(function () { Async\delay(1); throw new Exception('late'); });
$t->d[] = fn() => $f->start();
$other = Async\spawn(function () use ($q) { for ($i = 0; $i < 5; $i++) { $q->turn(); Async\suspend(); } return 'other'; });
Fiber::suspend(fn($m) => $t->d[] = fn() => $m->resume(), $t);
echo Async\await($other), "\n";
?>
--EXPECT--
in run(): Exception: late
other
