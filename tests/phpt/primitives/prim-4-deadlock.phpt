--TEST--
PRIM-1 PRIM-4 a deadlock is reported for each wait: what it waits for, where, and who holds it
--FILE--
<?php
require __DIR__ . '/kit.inc';
require_once __DIR__ . '/kit.inc';

$report = function(string $code): void {
    $ended = T\php("use Async\\{Barrier, Channel, Future, FutureState, Mutex, Semaphore};\nuse function Async\\{await, awaitAll, awaitAny, iterate, select, spawn, suspend};\n$code");
    echo preg_replace(['~/\S*spindle-phpt-\w+~', '~\n{2,}~', '~^\n~', '~Stack trace:.*?thrown in~s'], ['FILE', "\n", '', 'thrown in'], $ended->output), "status $ended->status\n\n";
};
$report('(new Channel)->recv();');
$report('(new Channel)->send(1);');
$report('foreach (new Channel as $x);');
$report('select([new Channel, [new Channel, 1]]);');
$report('(new Semaphore(0))->acquire();');
$report('(new Semaphore(0))->with(fn() => 1);');
$report('(new Barrier(2))->await();');
$report('(new Future(new FutureState))->await();');
$report('awaitAll([new Future(new FutureState)]);');
$report('iterate([1], function() { (new Channel)->recv(); });');
// two mutexes crosswise: each wait names its holder
$report('
[$a, $both] = [new Mutex, 0];
$b = new Mutex;
spawn(function() use ($a, $b, &$both) {
    $a->lock();
    for ($both++; $both < 2;) suspend();
    $b->lock();
});
spawn(function() use ($a, $b, &$both) {
    $b->with(function() use ($a, &$both) {
        for ($both++; $both < 2;) suspend();
        $a->with(fn() => 1);
    });
});
');
// one that its holder has forgotten
$report('
$m = new Mutex;
$m->lock();
$c = spawn(fn() => $m->lock());
await($c);
');
?>
--EXPECT--
Warning: Deadlock: coroutine #1 (the script itself) is suspended at FILE:4 and waits for Channel::recv() in FILE on line 4
Fatal error: Uncaught Async\DeadlockError: Deadlock: a coroutine waits for what can never happen in FILE:4
thrown in FILE on line 4
status 255

Warning: Deadlock: coroutine #1 (the script itself) is suspended at FILE:4 and waits for Channel::send() in FILE on line 4
Fatal error: Uncaught Async\DeadlockError: Deadlock: a coroutine waits for what can never happen in FILE:4
thrown in FILE on line 4
status 255

Warning: Deadlock: coroutine #1 (the script itself) is suspended at FILE:4 and waits for Channel::recv() in FILE on line 4
Fatal error: Uncaught Async\DeadlockError: Deadlock: a coroutine waits for what can never happen in FILE:4
thrown in FILE on line 4
status 255

Warning: Deadlock: coroutine #1 (the script itself) is suspended at FILE:4 and waits for select() in FILE on line 4
Fatal error: Uncaught Async\DeadlockError: Deadlock: a coroutine waits for what can never happen in FILE:4
thrown in FILE on line 4
status 255

Warning: Deadlock: coroutine #1 (the script itself) is suspended at FILE:4 and waits for Semaphore::acquire() in FILE on line 4
Fatal error: Uncaught Async\DeadlockError: Deadlock: a coroutine waits for what can never happen in FILE:4
thrown in FILE on line 4
status 255

Warning: Deadlock: coroutine #1 (the script itself) is suspended at FILE:4 and waits for Semaphore::with() in FILE on line 4
Fatal error: Uncaught Async\DeadlockError: Deadlock: a coroutine waits for what can never happen in FILE:4
thrown in FILE on line 4
status 255

Warning: Deadlock: coroutine #1 (the script itself) is suspended at FILE:4 and waits for Barrier::await() in FILE on line 4
Fatal error: Uncaught Async\DeadlockError: Deadlock: a coroutine waits for what can never happen in FILE:4
thrown in FILE on line 4
status 255

Warning: Deadlock: coroutine #1 (the script itself) is suspended at FILE:4 and waits for await() in FILE on line 4
Fatal error: Uncaught Async\DeadlockError: Deadlock: a coroutine waits for what can never happen in FILE:4
thrown in FILE on line 4
status 255

Warning: Deadlock: coroutine #1 (the script itself) is suspended at FILE:4 and waits for awaitAll() in FILE on line 4
Fatal error: Uncaught Async\DeadlockError: Deadlock: a coroutine waits for what can never happen in FILE:4
thrown in FILE on line 4
status 255

Warning: Deadlock: coroutine #1 (the script itself) is suspended at FILE:4 and waits for iterate() of coroutine #2 in FILE on line 4
Warning: Deadlock: coroutine #2 (spawned at FILE:4) is suspended at FILE:4 and waits for Channel::recv() in FILE on line 4
Fatal error: Uncaught Async\DeadlockError: Deadlock: 2 coroutines wait for what can never happen in FILE:4
thrown in FILE on line 4
status 255

Warning: Deadlock: coroutine #2 (spawned at FILE:7) is suspended at FILE:10 and waits for Mutex::lock() of coroutine #3 in FILE on line 10
Warning: Deadlock: coroutine #3 (spawned at FILE:12) is suspended at FILE:15 and waits for Mutex::lock() of coroutine #2 in FILE on line 15
Warning: Coroutine #2 has ended without unlocking the mutex that it locked at FILE:8 in FILE on line 8
Fatal error: Uncaught Async\DeadlockError: Deadlock: 2 coroutines wait for what can never happen in FILE:10
thrown in FILE on line 10
status 255

Warning: Deadlock: coroutine #1 (the script itself) is suspended at FILE:8 and waits for await() of coroutine #2 in FILE on line 8
Warning: Deadlock: coroutine #2 (spawned at FILE:7) is suspended at FILE:7 and waits for Mutex::lock() of coroutine #1 in FILE on line 7
Warning: Coroutine #1 has ended without unlocking the mutex that it locked at FILE:6 in FILE on line 6
Fatal error: Uncaught Async\DeadlockError: Deadlock: 2 coroutines wait for what can never happen in FILE:8
thrown in FILE on line 8
status 255
