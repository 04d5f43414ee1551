--TEST--
PRIM-4 Mutex: it belongs to a coroutine; order, tokens, cancellation, misuse, and a coroutine that ends with it
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\Mutex;
use function Async\{await, spawn, suspend, timeout};

$m = new Mutex;
attempt('free', fn() => [$m->isLocked(), $m->lock(), $m->isLocked(), $m->unlock(), $m->isLocked(), $m->tryLock(), $m->tryLock(), $m->unlock()]);
attempt('not locked', fn() => $m->unlock());
attempt('twice', function() use ($m) {
    $m->lock();
    try {
        $m->lock();
    } finally {
        $m->unlock();
    }
});
$go = new Async\Channel;
$holder = spawn(function() use ($m, $go) { $m->lock(); $go->recv(); $m->unlock(); });
T\begun($holder);
attempt("another's", fn() => $m->unlock());
attempt("another's, tried", fn() => $m->tryLock());
attempt('token', fn() => $m->lock(Async\Future::completed()));
$go->send(1);
await($holder);
attempt('with', fn() => [$m->with(fn() => $m->isLocked()), $m->isLocked()]);
attempt('with in with', fn() => $m->with(fn() => $m->with(fn() => 1)));
attempt('with that throws', fn() => $m->with(fn() => throw new LogicException('in it')));
attempt('unlocked in the callback', fn() => [$m->with(function() use ($m) { $m->unlock(); return 'done'; }), $m->isLocked()]);
attempt('given away in the callback', function() use ($m) {
    $m->with(function() use ($m, &$other, &$go) {
        $m->unlock();
        T\begun($other = spawn(function() use ($m, &$go) { $m->lock(); while (!$go) suspend(); return $m->unlock(); }));
    });
    return [$m->isLocked(), $go = true, await($other), $m->isLocked()];
});

// first come, first served
$m->lock();
$order = new ArrayObject;
$all = in_turn(...array_map(fn($name) => function() use ($m, $name, $order) { $m->with(function() use ($name, $order) { $order[] = $name; suspend(); }); }, ['a', 'b', 'c']));
$m->unlock();
attempt('overtake', fn() => $m->tryLock());
T\all($all);
echo implode(' ', (array) $order), "\n";

// cancelled while it waits, after it was given the mutex, and while it has it
$m->lock();
[$one, $two, $three] = in_turn(fn() => $m->lock(), fn() => $m->lock(), fn() => $m->with(fn() => 'it has come'));
$one->cancel();
$m->unlock();
$two->cancel();
attempt('first', fn() => await($one));
attempt('second', fn() => await($two));
attempt('third', fn() => await($three));
T\begun($inside = spawn(fn() => $m->with(fn() => Async\delay(60000))));
$inside->cancel();
attempt('inside', fn() => await($inside));
attempt('unlocked', fn() => $m->isLocked());

// it ends without unlocking: a warning, and the next one gets it
set_error_handler(function(int $level, string $message, string $file, int $line) {
    echo $level === E_WARNING ? 'Warning: ' : "$level: ", preg_replace('~#\d+~', '#N', $message), ' in ', basename($file), ":$line\n";
    return true;
});
[$bad, $next] = in_turn(function() use ($m) {
    $m->lock();
    suspend();
    suspend();
}, fn() => $m->with(fn() => 'the next one has it'));
attempt('next', fn() => await($next));
$failing = spawn(function() use ($m) { $m->lock(); throw new LogicException('with the mutex'); });
attempt('failed', fn() => await($failing));
$cancelled = spawn(function() use ($m) { $m->lock(); Async\delay(60000); });
T\begun($cancelled);
$cancelled->cancel();
attempt('cancelled', fn() => await($cancelled));
attempt('unlocked', fn() => $m->isLocked());
// three at once, one of which is released while locked
spawn(function() { $a = new Mutex; $b = new Mutex; $a->lock(); $b->lock(); (new Mutex)->lock(); $GLOBALS['kept'] = [$a, $b]; });
T\alone();
attempt('kept', fn() => array_map(fn($m) => $m->isLocked(), $kept));

// a thousand mutexes at once, unlocked in any order
$many = array_map(fn() => new Mutex, range(0, 999));
foreach ($many as $each) $each->lock();
shuffle($many);
foreach ($many as $each) $each->unlock();
attempt('many', fn() => array_sum(array_map(fn($m) => (int) $m->isLocked(), $many)));
$m->lock(); // main has it at the end
echo "end\n";
?>
--EXPECTF--
free: [false,null,true,null,false,true,false,null]
not locked: Async\AsyncException: The mutex is not locked
twice: Async\AsyncException: The coroutine has locked this mutex already, at %s:10
another's: Async\AsyncException: The mutex was locked by coroutine #2, at %s:18
another's, tried: false
token: Async\AwaitCancelledException: The wait was cancelled by its token
with: [true,false]
with in with: Async\AsyncException: The coroutine has locked this mutex already, at %s:26
with that throws: LogicException: in it
unlocked in the callback: ["done",false]
given away in the callback: [true,true,null,false]
overtake: false
a b c
first: Async\CancellationException: cancelled at %s:49
second: Async\CancellationException: cancelled at %s:51
third: "it has come"
inside: Async\CancellationException: cancelled at %s:56
unlocked: false
Warning: Coroutine #N has ended without unlocking the mutex that it locked at %s:66 in prim-4-mutex.php:66
next: "the next one has it"
Warning: Coroutine #N has ended without unlocking the mutex that it locked at %s:71 in prim-4-mutex.php:71
failed: LogicException: with the mutex
Warning: Coroutine #N has ended without unlocking the mutex that it locked at %s:73 in prim-4-mutex.php:73
cancelled: Async\CancellationException: cancelled at %s:75
unlocked: false
Warning: Coroutine #N has ended without unlocking the mutex that it locked at %s:79 in prim-4-mutex.php:79
Warning: Coroutine #N has ended without unlocking the mutex that it locked at %s:79 in prim-4-mutex.php:79
kept: [false,false]
many: 0
end
Warning: Coroutine #N has ended without unlocking the mutex that it locked at %s:89 in prim-4-mutex.php:89
