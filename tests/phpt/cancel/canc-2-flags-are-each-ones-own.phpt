--TEST--
CANC-2 CORO-8 a pending cancellation belongs to its coroutine: whoever runs in between is not hit
--FILE--
<?php
use function Async\{currentCoroutine, delay, spawn, suspend};

require __DIR__ . '/kit.inc';

$jobs = [];
$task = function(int $i) use (&$jobs, &$task) {
    try {
        if ($i % 5 === 0) currentCoroutine()->cancel(new Async\CancellationException("$i"));
        if ($i % 5 === 1) {
            $jobs[$i + 1] = spawn($task, $i + 1);
            $jobs[$i + 1]->cancel(new Async\CancellationException($i + 1 . ''));
        }
        suspend();
        usleep(1000);
        delay(1);
        return 'ended';
    } catch (Async\CancellationException $e) {
        return 'cancelled ' . ((int) $e->getMessage() - $i);
    }
};
for ($i = 0; $i < 50; $i++) {
    if ($i % 5 !== 2) $jobs[$i] = spawn($task, $i);
}
$count = [];
for ($i = 0; $i < 50; $i++) { // the one before has spawned it
    try {
        $count[$i % 5][Async\await($jobs[$i])] = true;
    } catch (Async\CancellationException $e) {
        $count[$i % 5]['never started ' . ((int) $e->getMessage() - $i)] = true;
    }
}
ksort($count);
foreach ($count as $kind => $outcomes) echo "$kind: ", implode(', ', array_keys($outcomes)), "\n";
?>
--EXPECT--
0: cancelled 0
1: ended
2: never started 0
3: ended
4: ended
