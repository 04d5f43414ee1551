--TEST--
CORO-2 the script is a coroutine like the others
--FILE--
<?php
use function Async\{await, currentCoroutine, delay, getCoroutines, spawn, suspend};

$main = currentCoroutine();
var_dump($main instanceof Async\Coroutine, $main === currentCoroutine());
var_dump($main->isRunning(), $main->isStarted(), $main->isCompleted(), $main->isSuspended());

$seen = await(spawn(function() use ($main) {
    return [currentCoroutine() !== $main, $main->isRunning(), $main->isSuspended(), $main->getSuspendLocation() === __FILE__ . ':8', in_array($main, getCoroutines(), true)];
}));
echo json_encode($seen), "\n";

// a function that blocks in the script gives way too
$order = [];
spawn(function() use (&$order) { $order[] = 'coroutine'; });
usleep(30_000);
$order[] = 'script';
echo implode(' ', $order), "\n";
?>
--EXPECT--
bool(true)
bool(true)
bool(true)
bool(true)
bool(false)
bool(false)
[true,false,true,true,true]
coroutine script
