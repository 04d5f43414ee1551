--TEST--
CORO-7 the state in each part of a life: what waits, what runs, what ended in which way
--FILE--
<?php
use function Async\{await, currentCoroutine, delay, spawn, suspend};

require __DIR__ . '/kit.inc';

function state(Async\Coroutine $c): string
{
    $is = [];
    foreach (['Started', 'Queued', 'Running', 'Suspended', 'Cancelled', 'CancellationRequested', 'Completed'] as $name) {
        if ($c->{"is$name"}()) $is[] = $name;
    }
    return implode(' ', $is);
}

$c = spawn(function() {
    $self = currentCoroutine();
    echo 'first turn: ', state($self), "\n";
    T\turns(5);
    array_map(function() use ($self) { echo 'deeper: ', state($self), "\n"; }, [1]);
    return false;
});
echo 'new: ', state($c), "\n";
T\begun($c);
echo 'in delay: ', state($c), "\n";
await($c);
echo 'done: ', state($c), ' ', json_encode([$c->getResult(), $c->getException()]), "\n";

$goes = false;
$gaveWay = spawn(function() use (&$goes) { do suspend(); while (!$goes); });
T\begun($gaveWay);
echo 'gave way: ', strtok(state($gaveWay), ' '), ' ', json_encode([$gaveWay->isRunning(), $gaveWay->isSuspended(), $gaveWay->isCompleted()]), "\n";
$goes = true;
await($gaveWay);

$failed = spawn(fn() => throw new Exception('x'));
T\failure($failed);
echo 'failed: ', state($failed), ' ', json_encode($failed->getResult()), ' ', $failed->getException()->getMessage(), "\n";

$cancelled = spawn(fn() => delay(600_000));
T\begun($cancelled);
$cancelled->cancel();
var_dump($cancelled->isCancellationRequested(), $cancelled->isCompleted());
T\failure($cancelled);
var_dump($cancelled->isCancelled(), $cancelled->isCompleted(), $cancelled->isSuspended(), $cancelled->getException() instanceof Async\CancellationException);

$never = spawn(fn() => 1);
$never->cancel();
T\failure($never);
var_dump($never->isStarted(), $never->isCancelled(), $never->isCompleted(), $never->isQueued());

$survivor = spawn(function() { try { delay(600_000); } catch (Async\CancellationException) { return 'survived'; } });
T\begun($survivor);
$survivor->cancel();
var_dump(await($survivor), $survivor->isCompleted(), $survivor->getException());
?>
--EXPECT--
new: Queued
first turn: Started Running
in delay: Started Suspended
deeper: Started Running
done: Started Completed [false,null]
gave way: Started [false,true,false]
failed: Started Completed null x
bool(true)
bool(false)
bool(true)
bool(true)
bool(false)
bool(true)
bool(false)
bool(true)
bool(true)
bool(false)
string(8) "survived"
bool(true)
NULL
