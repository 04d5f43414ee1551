--TEST--
IO-9 pcntl_signal() without asynchronous signals: handlers run at pcntl_signal_dispatch() and at ticks, whoever asks
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
declare(ticks=1);

use function Async\{await, delay, spawn};

require __DIR__ . '/kit.inc';

$log = [];
pcntl_signal(SIGUSR1, function(int $signal, $info) use (&$log) { $log[] = [$signal, $info['pid'] === getmypid()]; });
$me = getmypid();

// a blocked call is interrupted, the handler waits to be called for
$asleep = spawn(function() use (&$log) {
    $left = sleep(600);
    $before = count($log);
    pcntl_signal_dispatch();
    return [$left >= 10, $before <= 1, count($log)];
});
T\parked($asleep);
// not by a command that is waited for: its end and the signal may come at once, and the signal is for that wait then
$killer = proc_open(['sh', '-c', "kill -USR1 $me"], [], $pipes);
T\until(fn() => $asleep->isCompleted());
echo json_encode(await($asleep)), "\n";

// noted while everybody waits; one coroutine calls for all
$log = [];
$code = 'return function() use (&$log, $me) { posix_kill($me, SIGUSR1); usleep(1000); $n = count($log); pcntl_signal_dispatch(); return [$n, count($log)]; };';
echo json_encode(await(spawn(eval($code)))), "\n";

// ticks run them in a coroutine too
$log = [];
await(spawn(function() use ($me, &$log) {
    posix_kill($me, SIGUSR1);
    delay(1);
    $x = 1;
}));
echo json_encode($log), "\n";

// the disposition can be asked for and taken back
var_dump(pcntl_signal_get_handler(SIGUSR1) instanceof Closure, pcntl_signal(SIGUSR1, SIG_IGN), pcntl_signal_get_handler(SIGUSR1) === SIG_IGN);
posix_kill($me, SIGUSR1);
delay(1);
echo count($log), "\n";
?>
--EXPECT--
[true,true,1]
[0,1]
[[10,true]]
bool(true)
bool(true)
bool(true)
1
