--TEST--
CANC-2 Woken, and not running yet: what is lost by nobody ends by the cancellation, what was taken is kept
--INI--
async.seed=0
--FILE--
<?php
use function Async\{await, currentCoroutine, delay, spawn, suspend, timeout};

require __DIR__ . '/kit.inc';

/** Cancels the coroutine when what it waits for has come, before it runs. */
function victim(string $name, Closure $wait, Closure $happens): void
{
    $victim = spawn(function() use ($name, $wait) {
        try {
            $result = $wait();
        } catch (Throwable $e) {
            echo "$name: ", get_class($e), ' ', $e->getMessage(), "\n";
            if ($e instanceof Async\CancellationException) {
                throw $e;
            }
            $result = '';
        }
        echo "$name: goes on ", json_encode($result), "\n";
        delay(600_000);
    });
    T\begun($victim);
    $happens();
    // What comes next makes it ready and lets nobody run.
    $victim->cancel(new Async\CancellationException('stop'));
    T\ended($victim);
    echo "$name: ", json_encode([$victim->isCancelled(), $victim->getException()->getMessage()]), "\n";
}

[$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
victim('read', fn() => fgets($a), function() use ($b) { fwrite($b, "a line\n"); });
echo 'it is still there: ', stream_socket_recvfrom($a, 100);

$gate = false;
$work = spawn(function() use (&$gate) { while (!$gate) suspend(); return 'result'; });
victim('await', fn() => await($work), function() use ($work, &$gate) { $gate = true; while (!$work->isCompleted()) suspend(); });
echo 'it is still there: ', await($work), "\n";

// A failure that only this one gets is not lost.
$gate = false;
$fails = spawn(function() use (&$gate) { while (!$gate) suspend(); throw new LogicException('failure'); });
// It waits first, so it runs first.
spawn(function() use ($fails, &$victim) {
    T\failure($fails);
    $victim->cancel(new Async\CancellationException('stop'));
});
suspend();
$victim = spawn(function() use ($fails) {
    try {
        await($fails);
    } catch (LogicException $e) {
        echo 'failure: ', $e->getMessage(), "\n";
    }
    delay(600_000);
});
T\begun($victim);
$gate = true;
T\ended($victim);
echo json_encode($victim->isCancelled()), "\n";
?>
--EXPECT--
read: Async\CancellationException stop
read: [true,"stop"]
it is still there: a line
await: Async\CancellationException stop
await: [true,"stop"]
it is still there: result
failure: failure
true
