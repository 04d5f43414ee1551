--TEST--
GRP-7 async.virtual_time: all sleeps and clocks agree, I/O keeps time from jumping, deadlocks are found
--EXTENSIONS--
pcntl
--INI--
async.virtual_time=1
date.timezone=UTC
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{Channel, DeadlockError, Interval, RateLimiter, TimeoutException};
use function Async\{await, delay, group, race, retry, spawn, timeout, withTimeout};

const HOUR = 3_600_000;
/** What a call has taken by each clock, in seconds. */
function taken(Closure $call): string
{
    $clocks = [time(...), fn() => microtime(true), fn() => hrtime(true) / 1e9, fn() => (int) date('U'), fn() => (float) (new DateTime)->format('U.u'), fn() => gettimeofday(true)];
    $before = array_map(fn($clock) => $clock(), $clocks);
    $call();
    $all = array_map(fn($clock, $before) => (int) round(($clock() - $before) / 10) * 10, $clocks, $before);
    return count(array_unique($all)) === 1 ? "$all[0] s" : json_encode($all);
}

echo "before the first coroutine: ", taken(fn() => sleep(60)), "\n";
echo 'usleep: ', taken(fn() => usleep(60_000_000)), ', time_nanosleep: ', taken(fn() => time_nanosleep(60, 0)), ', until: ', taken(fn() => time_sleep_until(microtime(true) + 60)), "\n";
echo 'delay: ', taken(fn() => delay(HOUR)), ', a coroutine: ', taken(fn() => await(spawn(fn() => sleep(3600)))), "\n";
echo 'timeout: ', taken(fn() => await(timeout(HOUR))), "\n";
echo 'an interval: ', taken(function() { foreach (new Interval(60_000) as $tick) if ($tick === 3) break; }), "\n";
echo 'a rate: ', taken(function() { $limiter = new RateLimiter(1, 60_000); for ($i = 0; $i < 4; $i++) $limiter->acquire(); }), "\n";
echo 'retry: ', taken(function() { try { retry(fn() => throw new DomainException, 4, 10_000, jitter: 0); } catch (DomainException) {} }), "\n";
echo 'race: ', taken(fn() => race([fn() => sleep(3600), fn() => sleep(60)], 60_000)), "\n";
echo 'a limit: ', taken(function() { try { withTimeout(HOUR, fn() => sleep(36_000)); } catch (TimeoutException) {} }), "\n";
$order = [];
group(function() use (&$order) { foreach ([3, 1, 2] as $hours) spawn(function() use ($hours, &$order) { sleep($hours * 3600); $order[] = $hours; }); });
echo 'in order: ', implode(' ', $order), "\n";

[$here, $there] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
$reader = spawn(fn() => fread($here, 10));
T\parked($reader);
$jumped = true;
$sleeper = spawn(function() use (&$jumped) { sleep(HOUR); $jumped = true; });
T\parked($sleeper);
$jumped = false;
echo 'a read: ', taken(function() use ($there, $reader) { T\turns(20); fwrite($there, 'some text'); await($reader); }), $jumped ? ' and a sleep is over' : '', "\n";
$sleeper->cancel();
$child = (int) T\command('date +%s')->output;
echo 'a child process is behind: ', time() - $child > 3600 ? 'yes' : 'no', "\n";
touch($file = sys_get_temp_dir() . '/spindle-virtual-' . getmypid());
clearstatcache();
echo 'so are files: ', time() - filemtime($file) > 0 ? 'yes' : 'no', "\n";
unlink($file);

pcntl_async_signals(true);
pcntl_signal(SIGUSR1, fn() => throw new RuntimeException('a signal'));
foreach (['for ever' => fn() => delay(PHP_INT_MAX), 'centuries' => function() { for ($i = 0; $i < 8; $i++) sleep(4_000_000_000); }] as $what => $call) {
    attempt($what, function() use ($call) {
        exec('(sleep 0.2; kill -USR1 ' . getmypid() . ') >/dev/null 2>&1 &');
        $call();
    });
}

set_error_handler(fn() => true);
try {
    $sleeper = spawn(fn() => sleep(3600));
    (new Channel)->recv();
} catch (DeadlockError $e) {
    echo 'a deadlock, when the others have ended: ', json_encode($sleeper->isCompleted()), "\n";
}
?>
--EXPECTF--
before the first coroutine: 60 s
usleep: 60 s, time_nanosleep: 60 s, until: 60 s
delay: 3600 s, a coroutine: 3600 s
timeout: 3600 s
an interval: 180 s
a rate: 180 s
retry: 70 s
race: 120 s
a limit: 3600 s
in order: 1 2 3
a read: 0 s
a child process is behind: yes
so are files: yes
for ever: RuntimeException: a signal
centuries: RuntimeException: a signal

Warning: Deadlock: coroutine #1 %s
a deadlock, when the others have ended: true

Fatal error: Uncaught Async\DeadlockError: %a
