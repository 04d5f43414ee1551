--TEST--
FIB-4 A coroutine that suspends into schedulers has the same Fiber there; fibers and schedulers have theirs, which only a scheduler resumes
--INI--
async.fiber_identity=1
--FILE--
<?php
require __DIR__ . '/loop.inc';
use function Async\{await, spawn};

final class Asks implements FiberScheduler
{
    public array $seen = [];
    public array $queue = [];
    public function run(): void
    {
        $this->seen[] = Fiber::getCurrent();
        try { Fiber::suspend(); } catch (FiberError $e) { echo said($e), "\n"; }
        while ($this->queue) (array_shift($this->queue))();
        $this->seen[] = Fiber::getCurrent();
    }
}
$asks = new Asks;
$coroutine = spawn(function() use ($asks) {
    $seen = null;
    $got = Fiber::suspend(function(Fiber $fiber) use ($asks, &$seen) {
        $seen = $fiber;
        try { Fiber::suspend(); } catch (FiberError $e) { echo said($e), "\n"; }
        $asks->queue[] = fn() => $fiber->resume('by the scheduler');
    }, $asks);
    return [$got, $seen === Fiber::getCurrent(), $seen->isRunning()];
});
var_dump(await($coroutine));
T\until(fn() => count($asks->seen) === 2);
var_dump($asks->seen[0] === $asks->seen[1], get_debug_type($asks->seen[0]), $asks->seen[0]->isTerminated());

// The Fiber of one that was known first is destroyed, as before, where its scheduler drops it.
try {
    await(spawn(function() use ($asks) { Fiber::getCurrent(); Fiber::suspend(function() {}, $asks); }));
} catch (FiberExit $e) { echo said($e), "\n"; }

$asks = new Asks;
$created = null;
$created = Fiber::create(function() use ($asks, &$created) {
    var_dump(Fiber::getCurrent() === $created);
    try { Fiber::suspend(); } catch (FiberError $e) { echo said($e), "\n"; }
    Fiber::suspend(fn(Fiber $it) => $asks->queue[] = fn() => $it->resume(), $asks);
    var_dump(Fiber::getCurrent() === $created);
});
$asks->queue[] = fn() => $created->start();
Fiber::suspend(fn(Fiber $main) => $asks->queue[] = fn() => $main->resume(), $asks);
var_dump(Fiber::getCurrent());
?>
--EXPECT--
FiberError: Cannot suspend within the callback of Fiber::suspend()
FiberError: Cannot suspend outside of a fiber
array(3) {
  [0]=>
  string(16) "by the scheduler"
  [1]=>
  bool(true)
  [2]=>
  bool(true)
}
bool(true)
string(5) "Fiber"
bool(true)
FiberError: Cannot suspend outside of a fiber
FiberExit: Nothing can resume the fiber: its last reference was dropped
FiberError: Cannot suspend outside of a fiber
bool(true)
FiberError: Cannot suspend outside of a fiber
NULL
bool(true)
