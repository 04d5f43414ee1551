--TEST--
run() may wait and spawn as any code
--FILE--
<?php
require __DIR__ . '/loop.inc';

final class A implements FiberScheduler { public $d = []; public function run(): void { while ($this->d) { Async\delay(1); $c = Async\spawn(fn() => 7); echo "r", Async\await($c), "\n"; (array_shift($this->d))(); } } }
$a = new A;
$other = Async\spawn(function () { for ($i = 0; $i < 3; $i++) { echo "o$i\n"; Async\delay(1); } });
Fiber::suspend(fn($f) => $a->d[] = fn() => $f->resume('x'), $a);
Async\await($other);
echo "end\n";
?>
--EXPECT--
o0
o1
r7
o2
end
