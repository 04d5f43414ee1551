--TEST--
A destructor that waits forbids the fibers of its own coroutine, as PHP does, and those of no other
--FILE--
<?php
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';

function fiber(): string
{
    try {
        $fiber = new Fiber(fn() => Fiber::suspend('a fiber'));
        return $fiber->start() ?? 'nothing';
    } catch (FiberError $error) {
        return $error->getMessage();
    }
}

final class Waits
{
    function __destruct()
    {
        global $in;
        $in++;
        while (empty($GLOBALS['seen'])) suspend();
        echo 'in the destructor: ', fiber(), "\n";
    }
}

$in = 0;
$within = spawn(function () {
    new Waits;
    echo 'after it: ', fiber(), "\n";
});
$within_a_fiber = spawn(function () {
    $fiber = new Fiber(function () {
        new Waits;
        echo Fiber::suspend('after it, in a fiber'), "\n";
    });
    echo $fiber->start(), "\n";
    $fiber->resume('resumed');
});
while ($in < 2) suspend();
echo 'in main: ', fiber(), "\n";
echo 'in another: ', await(spawn(fiber(...))), "\n";
$resumed = spawn(function () {
    $fiber = new Fiber(function () { suspend(); Fiber::suspend('first'); suspend(); return 'last'; });
    echo $fiber->start(), ' ';
    $fiber->resume();
    echo $fiber->getReturn(), "\n";
});
await($resumed);
$seen = true;
await($within);
await($within_a_fiber);
new Waits;
echo 'at the end: ', fiber(), "\n";
?>
--EXPECTF--
in main: a fiber
in another: a fiber
first last
in the destructor: %r(Cannot switch fibers in current execution context|a fiber)%r
after it: a fiber
in the destructor: %r(Cannot switch fibers in current execution context|a fiber)%r
after it, in a fiber
resumed
in the destructor: %r(Cannot switch fibers in current execution context|a fiber)%r
at the end: a fiber
