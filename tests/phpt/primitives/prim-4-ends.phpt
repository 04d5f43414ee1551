--TEST--
PRIM-1 PRIM-4 exit and fatal errors while coroutines wait; coroutines that wait when the script ends
--FILE--
<?php
require __DIR__ . '/kit.inc';
$waiting = '
use Async\{Barrier, Channel, Future, FutureState, Interval, Mutex, Semaphore};
use function Async\{await, awaitAll, iterate, select, signal, spawn, suspend};
$c = new Channel;
$m = new Mutex;
$m->lock();
$f = new Future($s = new FutureState);
final class Value { public function __destruct() { echo "released\n"; } }
spawn(fn() => $c->recv());
spawn(fn() => select([$c, $f]));
spawn(fn() => (new Channel)->send(new Value));
spawn(fn() => (new Semaphore(0))->acquire());
spawn(fn() => $m->lock());
spawn(fn() => $m->with(fn() => 1));
spawn(fn() => (new Barrier(2))->await());
spawn(fn() => $f->map(fn() => 1)->await());
spawn(fn() => awaitAll([$f]));
spawn(fn() => iterate([1, 2], fn() => $c->recv()));
spawn(function() { foreach (new Interval(60000) as $i); });
spawn(fn() => await(signal(SIGUSR1)));
$pair = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
spawn(fn() => Channel::fromStream($pair[0])->recv());
foreach (Async\getCoroutines() as $co) {
    while ($co !== Async\currentCoroutine() && !isset($co->getAwaitingInfo()["call"])) suspend();
}
unset($co);
echo "all wait\n";
register_shutdown_function(function() { echo "shutdown\n"; });
';
$show = fn(string $what, $ended) => print("$what: [$ended->status]\n" . preg_replace(['~/\S*spindle-phpt-\w+~', '~\n{2,}~', '~Stack trace:.*?thrown in~s', '~allocate \d+ bytes~'], ['FILE', "\n", 'thrown in', 'allocate too much'], $ended->output) . "\n");
$show('exit of main', T\php($waiting . 'exit(3);'));
$show('exit of a coroutine', T\php($waiting . 'await(spawn(function() { exit(4); }));'));
$show('exit in a callback', T\php($waiting . 'await(spawn(fn() => (new Mutex)->with(function() { exit(5); })));'));
$show('exit in map()', T\php($waiting . '$g = Future::completed()->map(function() { exit(6); })->await();'));
$show('exit in iterate()', T\php($waiting . 'iterate([1, 2, 3], function($x) { if ($x === 2) exit(7); Async\delay(60000); echo "never\n"; });'));
$show('exit in the iterator', T\php($waiting . 'iterate((function() { yield 1; exit(8); })(), function($x) { Async\delay(60000); echo "never\n"; });'));
$show('exit in a destructor of a buffered value', T\php($waiting . '
    final class Exits { public function __destruct() { exit(9); } }
    (function() { $b = new Channel(1); $b->send(new Exits); })();
    echo "never\n";'));
$show('fatal error', T\php($waiting . 'await(spawn(fn() => str_repeat("x", PHP_INT_MAX >> 8)));', '-d memory_limit=32M'));
$show('fatal error in a callback', T\php($waiting . 'await(spawn(fn() => (new Semaphore(1))->with(fn() => str_repeat("x", PHP_INT_MAX >> 8))));', '-d memory_limit=32M'));
$show('uncaught exception', T\php($waiting . 'throw new LogicException("of main");'));
$show('shutdown', T\php($waiting . 'Async\gracefulShutdown();'));
?>
--EXPECT--
exit of main: [3]
all wait
shutdown
released

exit of a coroutine: [4]
all wait
shutdown
released

exit in a callback: [5]
all wait
shutdown
released

exit in map(): [6]
all wait
shutdown
released

exit in iterate(): [7]
all wait
shutdown
released

exit in the iterator: [8]
all wait
shutdown
released

exit in a destructor of a buffered value: [9]
all wait
shutdown
released

fatal error: [255]
all wait
Fatal error: Allowed memory size of 33554432 bytes exhausted (tried to allocate too much) in FILE on line 30
shutdown

fatal error in a callback: [255]
all wait
Fatal error: Allowed memory size of 33554432 bytes exhausted (tried to allocate too much) in FILE on line 30
shutdown

uncaught exception: [255]
all wait
Warning: Coroutine #1 has ended without unlocking the mutex that it locked at FILE:7 in FILE on line 7
released
Fatal error: Uncaught LogicException: of main in FILE:30
thrown in FILE on line 30
shutdown

shutdown: [0]
all wait
Warning: Coroutine #1 has ended without unlocking the mutex that it locked at FILE:7 in FILE on line 7
released
shutdown
