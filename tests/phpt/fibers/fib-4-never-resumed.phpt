--TEST--
FIB-4 A coroutine that is suspended as a Fiber: cancellation, a lost Fiber, a deadlock
--INI--
async.fiber_identity=1
--FILE--
<?php
require __DIR__ . '/loop.inc';
use function Async\{await, spawn, suspend};
use function T\until;

foreach ([false, true] as $resumed) {
echo $resumed ? "cancelled, and resumed before it runs\n" : "cancelled\n";
$fiber = null;
$again = false;
$map = new WeakMap;
$coroutine = spawn(function() use (&$fiber, &$again, $map) {
    $fiber = Fiber::getCurrent();
    $map[$fiber] = 'kept';
    try { Fiber::suspend(); } catch (Async\AsyncCancellation $e) { echo get_class($e), ' ', $fiber->isRunning() ? 'runs' : 'WRONG', "\n"; }
    $fiber = null;
    echo $map[Fiber::getCurrent()] ?? 'LOST', "\n"; // the same one, although nothing else has it
    $fiber = Fiber::getCurrent();
    $again = true;
    return Fiber::suspend();
});
until(function() use (&$fiber) { return $fiber?->isSuspended(); });
$coroutine->cancel();
if ($resumed) $fiber->resume('lost: it was cancelled before');
until(function() use (&$fiber, &$again) { return $again && $fiber->isSuspended(); });
$fiber->resume('again');
try { echo await($coroutine), "\n"; } catch (Async\AsyncCancellation) { echo "CANCELLED\n"; }
}

echo "its state survives a suspension in which something holds it\n";
$map = new WeakMap;
$coroutine = spawn(function() use (&$fiber, $map) {
    $fiber = Fiber::getCurrent();
    $map[$fiber] = 'kept';
    Fiber::suspend();
    return $map[Fiber::getCurrent()] ?? 'LOST';
});
until($fiber->isTerminated(...));
until(function() use (&$fiber) { return $fiber->isSuspended(); });
(function() use (&$fiber) { $it = $fiber; $fiber = null; $it->resume(); })(); // the last reference but the coroutine's
echo await($coroutine), "\n";

echo "lost\n";
foreach ([fn() => Fiber::suspend(), function() { Fiber::getCurrent(); Fiber::suspend(); }] as $code) {
    try { await(spawn($code)); } catch (FiberExit $e) { echo said($e), "\n"; }
}
$coroutine = spawn(function() use (&$fiber) { $fiber = Fiber::getCurrent(); return Fiber::suspend(); });
until(function() use (&$fiber) { return $fiber?->isSuspended(); });
$fiber = null;
try { await($coroutine); } catch (FiberExit $e) { echo said($e), "\n"; }

echo "never resumed\n";
$coroutine = spawn(function() { $fiber = Fiber::getCurrent(); try { Fiber::suspend(); } finally { echo "finally\n"; } });
await($coroutine);
?>
--EXPECTF--
cancelled
Async\CancellationException runs
kept
again
cancelled, and resumed before it runs
Async\CancellationException runs
kept
again
its state survives a suspension in which something holds it
kept
lost
FiberExit: Nothing can resume the fiber: its last reference was dropped
FiberExit: Nothing can resume the fiber: its last reference was dropped
FiberExit: Nothing can resume the fiber: its last reference was dropped
never resumed

Warning: Deadlock: coroutine #1 (the script itself) is suspended at %sfib-4-never-resumed.php:%d and waits for await() of coroutine #%d in %s on line %d

Warning: Deadlock: coroutine #%d (spawned at %s:%d) is suspended at %sfib-4-never-resumed.php:%d and waits for Fiber::resume() in %s on line %d
finally

Fatal error: Uncaught Async\DeadlockError: Deadlock: 2 coroutines wait for what can never happen in %s
%A
