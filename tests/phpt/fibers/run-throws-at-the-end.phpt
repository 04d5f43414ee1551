--TEST--
A run() that throws after the script
--FILE--
<?php
require __DIR__ . '/loop.inc';

print_reports();
final class L implements FiberScheduler { public $d = []; public function run(): void { while ($this->d) (array_shift($this->d))(); throw new LogicException('late'); } }
$l = new L;
Fiber::suspend(function($f) use ($l) { $l->d[] = function() use ($f) { $f->resume(); }; }, $l);
echo "end\n";
?>
--EXPECT--
end
reported: FiberExit: The run() of a FiberScheduler has thrown after LogicException: late
