--TEST--
FIB-4 With an empty async.fiber_identity no code gets the Fiber of a coroutine
--INI--
async.fiber_identity=
--FILE--
<?php
namespace Monolog {
    function current(): ?\Fiber { return \Fiber::getCurrent(); }
    function pause(): void { \Fiber::suspend(); }
}
namespace {
    Async\await(Async\spawn(function() {
        var_dump(Monolog\current());
        try { Monolog\pause(); } catch (FiberError $e) { echo $e->getMessage(), "\n"; }
        try { Fiber::getCurrent(1); } catch (ArgumentCountError $e) { echo $e->getMessage(), "\n"; }
    }));
}
?>
--EXPECT--
NULL
Cannot suspend outside of a fiber
Fiber::getCurrent() expects exactly 0 arguments, 1 given
