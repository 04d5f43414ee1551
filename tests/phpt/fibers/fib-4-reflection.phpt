--TEST--
FIB-4 The Fiber of a coroutine is reflected, printed, cloned and collected safely
--INI--
async.fiber_identity=1
--FILE--
<?php
require __DIR__ . '/loop.inc';
use function Async\{await, spawn, suspend};
use function T\until;

$fiber = null;
$coroutine = spawn(function() use (&$fiber) {
    $fiber = Fiber::getCurrent();
    $own = new ReflectionFiber($fiber);
    echo $own->isRunning() ? 'running' : 'WRONG', ', line ', $own->getExecutingLine() - __LINE__, ' ', basename($own->getExecutingFile()), "\n";
    (function() { Fiber::suspend(); })();
    suspend();
});
until(function() use (&$fiber) { return $fiber?->isSuspended(); });
$reflection = new ReflectionFiber($fiber);
var_dump($reflection->isSuspended(), $reflection->getFiber() === $fiber);
echo implode(' < ', array_map(fn($call) => ($call['class'] ?? '') . ($call['type'] ?? '') . $call['function'], $reflection->getTrace())), "\n";
var_dump(basename($reflection->getExecutingFile()), $reflection->getExecutingLine());
foreach ([$reflection->getCallable(...), fn() => clone $fiber, fn() => serialize($fiber), fn() => $fiber->__construct(fn() => 1)] as $code) {
    try { $code(); echo "WRONG\n"; } catch (Throwable $e) { echo said($e), "\n"; }
}
var_dump($fiber);
gc_collect_cycles();
$fiber->resume();
await($coroutine);
foreach ([$reflection->getTrace(...), $reflection->getExecutingLine(...), $reflection->getCallable(...)] as $code) {
    try { $code(); echo "WRONG\n"; } catch (Throwable $e) { echo said($e), "\n"; }
}

// Cycles with it, in coroutines that go on and in one that has ended
$all = [];
for ($i = 0; $i < 50; $i++) {
    $all[] = spawn(function() {
        $cycle = new stdClass;
        $cycle->self = [$cycle, Fiber::getCurrent()];
        suspend();
        gc_collect_cycles();
        return Fiber::getCurrent() === $cycle->self[1];
    });
}
var_dump(array_unique(array_map(await(...), $all)));
unset($all);
gc_collect_cycles();
$before = memory_get_usage();
for ($i = 0; $i < 200; $i++) await(spawn(fn() => Fiber::getCurrent()));
gc_collect_cycles();
echo memory_get_usage() - $before < 50_000 ? "nothing left\n" : "LEFT\n";
?>
--EXPECTF--
running, line 0 fib-4-reflection.php
bool(true)
bool(true)
Fiber::suspend < {closure%S} < {closure%S}
string(20) "fib-4-reflection.php"
int(11)
Error: Cannot fetch the callable of a coroutine
Error: Trying to clone an uncloneable object of class Fiber
Exception: Serialization of 'Fiber' is not allowed
Error: Cannot call constructor twice
object(Fiber)#%d (0) {
}
Error: Cannot fetch information from a fiber that has not been started or is terminated
Error: Cannot fetch information from a fiber that has not been started or is terminated
Error: Cannot fetch the callable of a coroutine
array(1) {
  [0]=>
  bool(true)
}
nothing left
