--TEST--
PRIM-4 Semaphore: order, tokens, cancellation, with(); what was not acquired cannot be released
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\Semaphore;
use function Async\{await, spawn, suspend, timeout};

$s = new Semaphore(permits: 2);
attempt('free', fn() => [$s->available(), $s->tryAcquire(), $s->available(), $s->acquire(), $s->tryAcquire(), $s->available()]);
attempt('release', fn() => [$s->release(), $s->release(), $s->available()]);
attempt('too many', fn() => $s->release());
attempt('of none', fn() => (new Semaphore(0))->release());
attempt('negative', fn() => new Semaphore(-1));
attempt('none at all', fn() => (new Semaphore(0))->acquire(timeout(1)));
attempt('with', fn() => [$s->with(fn() => $s->available()), $s->available()]);
attempt('with that throws', fn() => $s->with(fn() => throw new LogicException('in it')));
attempt('it was released', fn() => $s->available());
attempt('with what is no callable', fn() => $s->with('nothing'));
attempt('released by another', function() use ($s) { $s->acquire(); await(spawn(fn() => $s->release())); return $s->available(); });

// first come, first served; one that comes later cannot overtake
$s = new Semaphore(1);
$s->acquire();
$order = new ArrayObject;
$all = in_turn(...array_map(fn($name) => function() use ($s, $name, $order) { $s->acquire(); $order[] = $name; suspend(); $s->release(); }, ['a', 'b', 'c']));
$s->release();
attempt('overtake', fn() => $s->tryAcquire());
T\all($all);
echo implode(' ', (array) $order), ', left ', $s->available(), "\n";

// cancelled while it waits, and after it was given a permit
$s->acquire();
[$one, $two, $three] = in_turn(fn() => $s->acquire(), fn() => $s->acquire(), fn() => $s->with(fn() => 'it has come'));
$one->cancel();
$s->release();
$two->cancel();
attempt('first', fn() => await($one));
attempt('second', fn() => await($two));
attempt('third', fn() => await($three));
attempt('left', fn() => $s->available());
// cancelled in the callback
$inside = spawn(fn() => $s->with(function() { Async\delay(60000); }));
T\begun($inside);
$inside->cancel();
attempt('inside', fn() => await($inside));
attempt('left', fn() => $s->available());
// with a token
$s->acquire();
attempt('token', fn() => $s->with(fn() => print("never\n"), timeout(1)));
attempt('complete token', fn() => $s->acquire(Async\Future::completed()));
attempt('left', fn() => [$s->available(), $s->release(), $s->available()]);
// a coroutine that ends without releasing keeps its permit: a semaphore has no owner
await(spawn(fn() => $s->acquire()));
attempt('kept', fn() => [$s->available(), $s->release(), $s->available()]);
?>
--EXPECTF--
free: [2,true,1,null,false,0]
release: [null,null,2]
too many: Async\AsyncException: The semaphore has no permit that was acquired and not released
of none: Async\AsyncException: The semaphore has no permit that was acquired and not released
negative: ValueError: Async\Semaphore::__construct(): Argument #1 ($permits) must not be negative
none at all: Async\TimeoutException: The wait was given up after 1 ms
with: [1,2]
with that throws: LogicException: in it
it was released: 2
with what is no callable: TypeError: Async\Semaphore::with(): Argument #1 ($callback) must be a valid callback, function "nothing" not found or invalid function name
released by another: 2
overtake: false
a b c, left 1
first: Async\CancellationException: cancelled at %s:32
second: Async\CancellationException: cancelled at %s:34
third: "it has come"
left: 1
inside: Async\CancellationException: cancelled at %s:42
left: 1
token: Async\TimeoutException: The wait was given up after 1 ms
complete token: Async\AwaitCancelledException: The wait was cancelled by its token
left: [0,null,1]
kept: [0,null,1]
