--TEST--
CANC-2 cancel() before the start, while suspended, while queued again, while running, and after the end
--FILE--
<?php
use function Async\{await, currentCoroutine, delay, spawn, suspend};

require __DIR__ . '/kit.inc';

$never = spawn(function() { echo "NOT REACHED\n"; });
$never->cancel();
echo 'not started: ', get_class(T\failure($never)), ' ', json_encode($never->isStarted()), "\n";

$waits = spawn(function() { try { delay(600_000); } finally { echo 'its finally, '; } });
T\begun($waits);
$waits->cancel();
echo 'suspended: ';
echo get_class(T\failure($waits)), "\n";

// it has given way and is in the queue: the next thing it sees is the cancellation
$goes = false;
$queued = spawn(function() use (&$goes) { do suspend(); while (!$goes); echo "NOT REACHED\n"; });
T\begun($queued);
$queued->cancel();
$goes = true;
echo 'queued: ', get_class(T\failure($queued)), "\n";

// what it waited for has happened, and it has not run yet
$work = spawn(function() { suspend(); return 'work'; });
spawn(function() use (&$wakes, $work) { T\ended($work); $wakes->cancel(); });
$wakes = spawn(function() use ($work) {
    await($work);
    delay(600_000); // at the latest here
    echo 'NOT REACHED ';
});
$result = T\failure($wakes);
echo 'woken: ', get_class($result), "\n";

$running = spawn(function() {
    $self = currentCoroutine();
    $self->cancel();
    echo json_encode([$self->isCancellationRequested(), $self->isCancelled(), $self->isRunning()]), ' ';
    try {
        await(spawn(fn() => 1));
    } catch (Async\CancellationException) {
        return 'thrown at its next suspension';
    }
});
echo 'running: ', await($running), "\n";
echo 'to the end: ', get_class(T\failure(spawn(function() { currentCoroutine()->cancel(); return 'no suspension'; }))), "\n";

$done = spawn(fn() => 'result');
await($done);
$done->cancel();
echo 'completed: ', await($done), ' ', json_encode([$done->isCancelled(), $done->isCancellationRequested(), $done->getException()]), "\n";
?>
--EXPECT--
not started: Async\CancellationException false
suspended: its finally, Async\CancellationException
queued: Async\CancellationException
woken: Async\CancellationException
running: [true,false,true] thrown at its next suspension
to the end: Async\CancellationException
completed: result [false,false,null]
