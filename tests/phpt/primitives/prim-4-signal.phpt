--TEST--
PRIM-4 signal(): the next arrival; twice for one signal, beside pcntl's handlers and the default action
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\SignalArrival;
use function Async\{await, awaitAll, select, signal, spawn, suspend, timeout};

$send = fn(int $signo = SIGUSR1) => posix_kill(posix_getpid(), $signo);
$one = signal(signo: SIGUSR1);
$two = signal(SIGUSR1);
attempt('open', fn() => [$one->isCompleted(), $one instanceof Async\Awaitable, get_class($one)]);
spawn($send);
attempt('both', fn() => awaitAll([$one, $two]));
attempt('complete', fn() => [$one->isCompleted(), await($one), await($two)]);
attempt('the next one', function() use ($send) { $three = signal(SIGUSR1); spawn($send); return await($three); });
attempt('select', function() use ($send) { spawn(fn() => $send(SIGUSR2)); return select(['one' => signal(SIGUSR1), 'two' => signal(SIGUSR2)]); });
attempt('a limit', fn() => await(signal(SIGUSR1), timeout(1)));
attempt('as a token', function() use ($send) { spawn($send); return (new Async\Channel)->recv(signal(SIGUSR1)); });
// while one waits in the middle of a blocked call
attempt('beside a sleep', function() use ($send) { $arrival = signal(SIGUSR1); $sleeper = spawn(fn() => usleep(1000)); spawn($send); return [await($arrival), await($sleeper)]; });
// pcntl's handler goes on to be called, whichever was first
pcntl_async_signals(true);
$calls = 0;
$handler = function() use (&$calls) { $calls++; };
$before = signal(SIGUSR1);
pcntl_signal(SIGUSR1, $handler);
spawn($send);
attempt('pcntl second', fn() => [await($before), T\until(fn() => $GLOBALS['calls'] === 1)]);
$after = signal(SIGUSR1);
spawn($send);
attempt('pcntl first', fn() => [await($after), T\until(fn() => $GLOBALS['calls'] === 2)]);
unset($before, $after);
attempt('it is still there', function() use ($send, &$calls) { $send(); T\until(fn() => $GLOBALS['calls'] === 3); return pcntl_signal_get_handler(SIGUSR1) instanceof Closure; });
foreach (['zero' => 0, 'negative' => -1, 'too large' => 65, 'huge' => PHP_INT_MAX, 'SIGKILL' => SIGKILL, 'SIGSTOP' => SIGSTOP, 'SIGSEGV' => SIGSEGV, 'SIGBUS' => SIGBUS] as $what => $signo) {
    attempt($what, fn() => signal($signo));
}
attempt('made by hand', fn() => await(new SignalArrival));
// the default action comes back when nothing waits any more
foreach (['while it is held' => '$s = Async\signal(SIGTERM); ', 'after it has come' => '$s = Async\signal(SIGTERM); posix_kill(getmypid(), SIGTERM); Async\await($s); ', 'after it is released' => '$s = Async\signal(SIGTERM); $s = null; ', 'of two' => '$s = Async\signal(SIGTERM); $t = Async\signal(SIGTERM); $t = null; '] as $what => $code) {
    $ended = T\php($code . 'posix_kill(getmypid(), SIGTERM); Async\delay(1); echo "alive";');
    echo "$what: $ended\n";
}
// waiting for a signal is no deadlock
$ended = T\php('Async\spawn(function() { Async\delay(1); posix_kill(getmypid(), SIGUSR1); }); echo Async\await(Async\signal(SIGUSR1)) === SIGUSR1 ? "received" : "WRONG";');
echo "no deadlock: $ended\n";
?>
--EXPECT--
open: [false,true,"Async\\SignalArrival"]
both: [10,10]
complete: [true,10,10]
the next one: 10
select: ["two",12]
a limit: Async\TimeoutException: The wait was given up after 1 ms
as a token: Async\AwaitCancelledException: The wait was cancelled by its token
beside a sleep: [10,null]
pcntl second: [10,true]
pcntl first: [10,true]
it is still there: true
zero: ValueError: Async\signal(): Argument #1 ($signo) must be the number of a signal
negative: ValueError: Async\signal(): Argument #1 ($signo) must be the number of a signal
too large: ValueError: Async\signal(): Argument #1 ($signo) must be the number of a signal
huge: ValueError: Async\signal(): Argument #1 ($signo) must be the number of a signal
SIGKILL: ValueError: Async\signal(): Argument #1 ($signo) must be a signal that can be caught: Invalid argument (os error 22)
SIGSTOP: ValueError: Async\signal(): Argument #1 ($signo) must be a signal that can be caught: Invalid argument (os error 22)
SIGSEGV: ValueError: Async\signal(): Argument #1 ($signo) must be a signal that can be caught: it reports a fault of the process
SIGBUS: ValueError: Async\signal(): Argument #1 ($signo) must be a signal that can be caught: it reports a fault of the process
made by hand: Async\AsyncException: This object has never been spawned or constructed, and would never complete
while it is held: [0] alive
after it has come: [143] Terminated

after it is released: [143] Terminated

of two: [0] alive
no deadlock: [0] received
