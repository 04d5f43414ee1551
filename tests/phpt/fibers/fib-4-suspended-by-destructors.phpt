--TEST--
FIB-4 A destructor that the suspension of a fiber calls cannot suspend it again
--INI--
async.fiber_identity=1
--FILE--
<?php
require __DIR__ . '/loop.inc';
use function Async\{await, spawn, suspend};

class Suspends
{
    public function __destruct()
    {
        suspend(); // a wait of another kind is none of the fiber
        try { Fiber::suspend(); echo "WRONG\n"; } catch (Throwable $e) { echo said($e), "\n"; }
    }
}
$map = new WeakMap;
$coroutine = spawn(function() use ($map) {
    $map[Fiber::getCurrent()] = new Suspends; // is destroyed with the Fiber, which nothing else has
    try { Fiber::suspend(); echo "WRONG\n"; } catch (Throwable $e) { echo said($e), "\n"; }
    return 'goes on';
});
echo await($coroutine), "\n";
?>
--EXPECT--
FiberError: Cannot suspend a fiber that is being suspended
FiberExit: Nothing can resume the fiber: its last reference was dropped
goes on
