<?php
use function Async\{await, spawn, suspend};

function busyAlpha(float $until): void
{
    while (microtime(true) < $until) {
        spin();
        suspend();
    }
}

function busyBeta(float $until): void
{
    while (microtime(true) < $until) {
        spin();
        suspend();
    }
}

function spin(): void
{
    for ($i = 0; $i < 10000; $i++) {
    }
}

$ran = 0;
$timer = new ExcimerTimer();
$timer->setEventType(EXCIMER_REAL);
$timer->setInterval(0.01);
$timer->setCallback(function () use (&$ran): void {
    $ran++;
});
$timer->start();
$profiler = new ExcimerProfiler();
$profiler->setEventType(EXCIMER_REAL);
$profiler->setPeriod(0.001);
$profiler->start();
// Until both have been seen: a busy machine may let either wait.
$seen = [];
for ($i = 0; $i < 100 && (count($seen) < 2 || $ran === 0); $i++) {
    $until = microtime(true) + 0.1;
    $a = spawn('busyAlpha', $until);
    $b = spawn('busyBeta', $until);
    await($a);
    await($b);
    foreach ($profiler->flush() as $entry) {
        $names = array_filter(array_column($entry->getTrace(), 'function'));
        $alpha = in_array('busyAlpha', $names, true);
        $beta = in_array('busyBeta', $names, true);
        if ($alpha && $beta) {
            exit("a mixed stack\n");
        }
        if ($alpha || $beta) {
            $seen[$alpha ? 'a' : 'b'] = true;
        }
    }
}
$profiler->stop();
$timer->stop();
echo count($seen) === 2 ? "its own stacks\n" : "no stacks\n", $ran > 0 ? "its timer ran\n" : "its timer never ran\n";
// Excimer's threads may outlive what they use, also on stock PHP, where one process in a hundred aborts at its end.
posix_kill(getmypid(), 9);
