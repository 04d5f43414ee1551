--TEST--
CORO-4 the cancellation token: completed, failed, cancelled or slow; the awaited work goes on
--FILE--
<?php
use Async\AwaitCancelledException;
use function Async\{await, delay, spawn, suspend, timeout};

require __DIR__ . '/kit.inc';

$work = spawn(function() { T\turns(300); return 'the work is done'; });
$reason = new RuntimeException('of the token');
$cancelled = spawn(fn() => delay(600_000));
$tokens = [
    'completed' => spawn(fn() => 'ignored'),
    'failed' => spawn(function() use ($reason) { throw $reason; }),
    'fails later' => spawn(function() use ($reason) { T\turns(40); throw $reason; }),
    'cancelled' => $cancelled,
    'time' => timeout(30),
    'no time' => timeout(0),
];
$cancelled->cancel();
suspend();
foreach ($tokens as $name => $token) {
    try {
        await($work, $token);
        echo "$name: waited for the work\n";
    } catch (AwaitCancelledException $e) {
        echo "$name: ", match (true) {
            $e instanceof Async\TimeoutException => get_class($e) . ' ' . json_encode($e->getPrevious()) . " {$e->getMessage()}",
            $e->getPrevious() === null => 'nothing before',
            $e->getPrevious() === $reason => 'the reason',
            default => get_class($e->getPrevious()),
        }, "\n";
    }
}
var_dump($work->isCompleted(), $work->isCancellationRequested());
$slow = spawn(fn() => delay(600_000));
echo await($work, $slow), "\n";
// one token for many
$token = spawn(fn() => T\turns(30));
$jobs = [];
for ($i = 0; $i < 10; $i++) $jobs[] = spawn(fn() => get_class(T\failure(spawn(fn() => await($slow, $token)))));
echo implode(' ', array_unique(T\all($jobs))), "\n";
var_dump($slow->isCompleted());
$slow->cancel();
?>
--EXPECTF--
completed: nothing before
failed: the reason
fails later: the reason
cancelled: %s
time: Async\TimeoutException null The wait was given up after 30 ms
no time: Async\TimeoutException null The wait was given up after 0 ms
bool(false)
bool(false)
the work is done
Async\AwaitCancelledException
bool(false)
