--TEST--
IO-2 pcntl_sigwaitinfo(), pcntl_sigtimedwait(): the rest runs meanwhile, each signal goes to one, in turn, with who sent it
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
use function Async\{await, spawn};

require __DIR__ . '/kit.inc';

pcntl_sigprocmask(SIG_BLOCK, [SIGUSR1, SIGUSR2, SIGRTMIN]);
$me = getmypid();
T\same_inside([
    'one that is pending' => function() use ($me) { posix_kill($me, SIGUSR1); return [pcntl_sigwaitinfo([SIGUSR1, SIGUSR2], $i), $i]; },
    'none' => fn() => [pcntl_sigtimedwait([SIGUSR1], $i, 0, 1), @pcntl_sigtimedwait([SIGUSR1], $i, 0, 20_000_000), $i],
    'from a child' => function() use ($me) { exec("kill -USR2 $me"); $n = pcntl_sigtimedwait([SIGUSR2], $i, 600); return [$n, $i['signo'], $i['pid'] > 0, $i['uid']]; },
    'a wrong time' => function() { try { return [@pcntl_sigtimedwait([SIGUSR1], $i, 0, -1), pcntl_get_last_error()]; } catch (ValueError $e) { return $e->getMessage(); } },
]);

$ticks = new T\Ticks;
$log = [];
$waiters = [];
foreach ([1, 2, 3] as $n) {
    $waiters[] = $waiter = spawn(function() use ($n, &$log) { $log[] = [$n, pcntl_sigwaitinfo([SIGUSR1], $info), $info['pid']]; });
    T\parked($waiter); // in this order
}
$other = spawn(fn() => pcntl_sigtimedwait([SIGUSR2, SIGRTMIN], $info, 600));
T\parked(...$waiters, ...[$other]);
for ($i = 1; $i <= 3; $i++) {
    posix_kill($me, SIGUSR1);
    T\until(function() use (&$log, $i) { return count($log) === $i; });
}
T\check('in turn', $log === [[1, SIGUSR1, $me], [2, SIGUSR1, $me], [3, SIGUSR1, $me]], $log);
T\check('the other one waits on', $ticks->more() && !$other->isCompleted());
exec("kill -USR2 $me");
var_dump(await($other) === SIGUSR2);

// with worker threads at work none of them takes the signal, and nobody dies of it
$jobs = [];
for ($i = 0; $i < 8; $i++) $jobs[] = spawn(fn() => gethostbyname('localhost'));
$waiter = spawn(fn() => pcntl_sigwaitinfo([SIGUSR1]));
$killer = proc_open(['sh', '-c', "kill -USR1 $me"], [], $pipes);
var_dump(await($waiter) === SIGUSR1);
T\all($jobs);
proc_close($killer);

// a signal that is not blocked, and has a handler: the waiter takes it, as the kernel has it
pcntl_signal(SIGHUP, function() { echo "NOT THE HANDLER\n"; });
$waiter = spawn(fn() => pcntl_sigtimedwait([SIGHUP], $info, 600) === SIGHUP);
T\parked($waiter);
posix_kill($me, SIGHUP);
var_dump(await($waiter), pcntl_sigprocmask(SIG_BLOCK, [SIGUSR1], $blocked) && !in_array(SIGHUP, $blocked));
pcntl_signal_dispatch();

// cancelled
$waiter = spawn(function() { try { @pcntl_sigwaitinfo([SIGUSR1]); } catch (Async\CancellationException $e) { return get_class($e); } });
T\parked($waiter);
$waiter->cancel();
echo await($waiter), "\n";

// a handler of another signal interrupts the script's wait
pcntl_async_signals(true);
pcntl_signal(SIGALRM, function() { echo "alarm\n"; });
$killer = proc_open(['sh', '-c', "sleep 0.1; kill -ALRM $me"], [], $pipes);
T\check('interrupted', in_array(@pcntl_sigtimedwait([SIGUSR1], $info, 600), [-1, false], true) && pcntl_get_last_error() === PCNTL_EINTR);
proc_close($killer);

// in the child of a fork nobody of the parent's is in the way
$waiter = spawn(fn() => pcntl_sigwaitinfo([SIGUSR1]));
T\parked($waiter);
if (($pid = pcntl_fork()) === 0) {
    echo pcntl_sigtimedwait([SIGUSR1], $info, 600) === SIGUSR1 ? "child\n" : "NOT\n";
    exit(0);
}
posix_kill($pid, SIGUSR1);
pcntl_waitpid($pid, $status);
T\check('the parent waits on', !$waiter->isCompleted());
posix_kill($me, SIGUSR1);
var_dump(await($waiter) === SIGUSR1, $ticks->more());
$ticks->stop();
?>
--EXPECT--
one that is pending: yes
none: yes
from a child: yes
a wrong time: yes
in turn: yes
the other one waits on: yes
bool(true)
bool(true)
bool(true)
bool(true)
Async\CancellationException
alarm
interrupted: yes
child
the parent waits on: yes
bool(true)
bool(true)
