--TEST--
run() may wait and spawn as any code
--FILE--
<?php
require __DIR__ . '/loop.inc';

final class A implements FiberScheduler { public $d = []; public function run(): void { while ($this->d) { Async\delay(1); $c = Async\spawn(fn() => 7); echo "r", Async\await($c), "\n"; (array_shift($this->d))(); } } }
$a = new A;
$turns = 0;
$other = Async\spawn(function () use (&$turns) { while (true) { $turns++; Async\delay(1); } });
Fiber::suspend(fn($f) => $a->d[] = fn() => $f->resume('x'), $a);
$other->cancel();
echo $turns > 1 ? "others have run\n" : "$turns\n";
?>
--EXPECT--
r7
others have run
