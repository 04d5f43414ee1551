--TEST--
A run() that throws gives each coroutine that waits for it a FiberExit of its own
--FILE--
<?php
require __DIR__ . '/loop.inc';

print_reports();
final class Bad implements FiberScheduler { public $f = []; public function run(): void { throw new LogicException('run'); } }
$b = new Bad;
$cs = [];
for ($i = 0; $i < 2; $i++) $cs[] = Async\spawn(function () use ($b, $i) {
    try { Fiber::suspend(fn($f) => $b->f[] = $f, $b); } catch (FiberExit $e) { echo "$i ", said($e), "\n"; }
});
foreach ($cs as $c) Async\await($c);
echo "end\n";
?>
--EXPECT--
0 FiberExit: The run() of the FiberScheduler that the fiber waits for has thrown after LogicException: run
1 FiberExit: The run() of the FiberScheduler that the fiber waits for has thrown after LogicException: run
end
