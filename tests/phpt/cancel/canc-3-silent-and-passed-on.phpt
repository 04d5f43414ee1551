--TEST--
CANC-3 nobody hears of a cancellation but those who await: each gets the object, and what they awaited for others lives on
--FILE--
<?php
use function Async\{await, delay, spawn, suspend};

require __DIR__ . '/kit.inc';

set_exception_handler(function() { echo "NOT CALLED\n"; });
$silent = spawn(fn() => delay(600_000));
suspend();
$silent->cancel();
suspend();

$work = spawn(fn() => delay(600_000));
$waiters = [];
for ($i = 0; $i < 4; $i++) $waiters[] = spawn(fn() => await($work));
suspend();
$reason = new Async\CancellationException('reason');
$work->cancel($reason);
foreach ($waiters as $waiter) var_dump(T\failure($waiter) === $reason);

// cancelling a waiter does not touch the work, nor its other waiters
$work = spawn(function() { T\turns(50); return 'result'; });
$one = spawn(fn() => await($work));
$two = spawn(fn() => await($work));
suspend();
$one->cancel();
echo get_class(T\failure($one)), ' ', await($two), ' ', json_encode($work->isCancellationRequested()), "\n";
?>
--EXPECT--
bool(true)
bool(true)
bool(true)
bool(true)
Async\CancellationException result false
