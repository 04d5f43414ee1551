--TEST--
IO-9 caught signals interrupt the script's blocked call, handlers run in order and may block, coroutines go on
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
use function Async\{await, spawn};

require __DIR__ . '/kit.inc';

pcntl_async_signals(true);
$log = [];
pcntl_signal(SIGUSR1, function() use (&$log) { $log[] = 'USR1'; });
pcntl_signal(SIGUSR2, function() use (&$log) { $log[] = 'USR2 begins'; usleep(2000); $log[] = 'USR2 ends'; });

$ticks = new T\Ticks;
$kill = fn(int $signal, int $ms) => spawn(function() use ($signal, $ms) { T\turns($ms); posix_kill(posix_getpid(), $signal); });

$kill(SIGUSR1, 30);
$left = sleep(600);
T\check('sleep returns what is left', $left >= 400, $left);
$kill(SIGUSR2, 30);
$left = time_nanosleep(600, 0);
T\check('time_nanosleep too', is_array($left) && $left['seconds'] >= 400, $left);
echo implode(', ', $log), "\n";

// nobody in the script: the longest waiting coroutine's call is interrupted, the rest goes on
$sleepers = [spawn(fn() => sleep(600))];
T\parked(...$sleepers);
$sleepers[] = spawn(fn() => sleep(600));
T\parked(...$sleepers);
$log = [];
$killer = proc_open(['sh', '-c', 'sleep 0.05; kill -USR1 ' . getmypid()], [], $pipes);
T\check('the first sleeper', T\until(fn() => $sleepers[0]->isCompleted()) && await($sleepers[0]) >= 400 && !$sleepers[1]->isCompleted());
var_dump($log, $ticks->more());
$ticks->stop();
$sleepers[1]->cancel();

// from outside, while only coroutines wait
$busy = spawn(function() { for ($i = 0; $i < 20; $i++) T\turns(5); return 'not disturbed'; });
shell_exec('kill -USR1 ' . getmypid());
echo await($busy), ' ', count($log), "\n";
?>
--EXPECT--
sleep returns what is left: yes
time_nanosleep too: yes
USR1, USR2 begins, USR2 ends
the first sleeper: yes
array(1) {
  [0]=>
  string(4) "USR1"
}
bool(true)
not disturbed 2
