--TEST--
OBS-1 metrics(): what waits, for what, and how coroutines have ended
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/kit.inc';

use Async\Channel;
use function Async\{await, delay, metrics, spawn};

function grown(array $before, string ...$names): string
{
    $now = metrics();
    return implode(' ', array_map(fn(string $name) => $now[$name] - $before[$name], $names));
}
const ENDS = ['coroutines_spawned_total', 'coroutines_ended_total', 'coroutines_failed_total', 'coroutines_cancelled_total'];
$before = metrics();
[$ours, $theirs] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
$channel = new Channel();
$all = [spawn(fgets(...), $ours), spawn($channel->recv(...)), spawn(delay(...), 3_600_000), spawn(delay(...), 3_600_000)];
T\until(fn() => metrics()['coroutines_suspended'] === 4);
$now = metrics();
echo "io $now[waits_for_io], coroutines $now[waits_for_coroutines], time $now[waits_for_time], ", $now['timers'] >= 2 ? 'timers' : 'no timers', ", watched ", $now['descriptors'] - $before['descriptors'], "\n";
echo grown($before, ...ENDS), "\n";
delay(20);
echo metrics()['waits_for_io_seconds_total'] - $now['waits_for_io_seconds_total'] >= 0.015 ? 'io counts time, ' : 'io counts no time, ';
// A pause of the process between the call of delay() and its wait is the time of two.
T\until(function () {
    $before = metrics();
    delay(20);
    $now = metrics();
    $grown = fn(string $name) => $now[$name] - $before[$name];
    return $grown('waits_for_time_seconds_total') > 2.5 * $grown('waits_for_io_seconds_total');
});
echo "and three that sleep count three times\n";
fwrite($theirs, "line\n");
$channel->close();
$all[2]->cancel();
foreach ([0, 1, 2] as $i) {
    try {
        await($all[$i]);
    } catch (Throwable) {
    }
}
echo grown($before, ...ENDS), "\n";
$now = metrics();
echo "io $now[waits_for_io], coroutines $now[waits_for_coroutines], time $now[waits_for_time]\n";
// What works for the runtime is not counted, and a child begins with none of its parent's waits.
$handled = 0;
$scope = new Async\Scope();
$scope->setExceptionHandler(function () use (&$handled) { $handled++; });
$before = metrics();
$scope->spawn(fn() => throw new Exception());
T\until(function () use (&$handled) { return $handled === 1; });
echo grown($before, ...ENDS), "\n";
$start = hrtime(true);
['loop_idle_seconds_total' => $idle, 'waits_for_time_seconds_total' => $time] = metrics();
for ($until = hrtime(true) + 100_000_000; hrtime(true) < $until; ) {
}
delay(0);
spawn(delay(...), 0);
['loop_idle_seconds_total' => $idle_now, 'waits_for_time_seconds_total' => $time_now] = metrics();
// One sleeps all the time, however long that takes on a busy machine.
echo $time_now - $time <= (hrtime(true) - $start) / 1e9 ? '' : 'work counts as waiting ';
echo $idle_now - $idle < 0.05 ? 'work is not idle' : 'work is idle', "\n";
T\until(function () { // where the process pauses, it may be woken before the work begins
    $late = spawn(delay(...), 1);
    T\begun($late);
    for ($until = hrtime(true) + 20_000_000; hrtime(true) < $until; ) {
    }
    await($late);
    return metrics()['loop_lag_seconds'] > 0.01;
});
echo "late\n";
$all[3]->cancel();
try {
    metrics(1);
} catch (ArgumentCountError $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
io 1, coroutines 1, time 2, timers, watched 1
4 0 0 0
io counts time, and three that sleep count three times
4 3 1 1
io 0, coroutines 0, time 1
1 1 1 0
work is not idle
late
Async\metrics() expects exactly 0 arguments, 1 given
