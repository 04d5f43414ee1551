--TEST--
Coroutines that wait for a pool get things in order of arrival, and one that is cancelled loses none
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{AsyncException, AwaitCancelledException, CancellationException, Pool};
use function Async\{await, delay, spawn, suspend, timeout};

$made = 0;
$pool = new Pool(function() use (&$made) { $thing = new stdClass; $thing->number = ++$made; return $thing; }, max: 2);
$log = [];
$worker = function(string $name) use ($pool, &$log) {
    return spawn(function() use ($pool, $name, &$log) {
        $thing = $pool->acquire();
        $log[] = $name;
        suspend();
        $pool->release($thing);
    });
};
[$one, $two] = [$pool->acquire(), $pool->acquire()];
$all = [];
foreach (range('a', 'j') as $name) T\begun($all[] = $worker($name));
$pool->release($one); // it goes from one to the next
T\all($all);
$pool->release($two);
T\check('in order', implode($log) === 'abcdefghij', $log);
T\check('two were made', $made === 2 && count($pool) === 2 && $pool->idleCount() === 2 && $pool->activeCount() === 0);

// One that was released last is lent first: the others may get old.
[$one, $two] = [$pool->acquire(), $pool->acquire()];
$pool->release($one);
$pool->release($two);
T\check('the last one is the next', $pool->acquire() === $two && $pool->tryAcquire() === $one && $pool->tryAcquire() === null);

// Cancelled in the queue, and after something was handed to it.
$log = [];
foreach (['x', 'y', 'z'] as $name) T\begun($$name = $worker($name));
$x->cancel();
$pool->release($one); // for y
$y->cancel();
T\check('cancelled', T\failure($x) instanceof CancellationException && T\failure($y) instanceof CancellationException);
await($z);
T\check('what was handed to it goes to the next', $log === ['z'] && $pool->activeCount() === 1 && $pool->idleCount() === 1, $log);
$pool->release($two);

// A newcomer does not overtake one that was handed something.
[$one, $two] = [$pool->acquire(), $pool->acquire()];
$log = [];
$w = $worker('w');
T\begun($w);
$pool->release($one);
T\check('it belongs to the one that waits', $pool->tryAcquire() === null);
$pool->release($two);
await($w);

// Tokens.
[$one, $two] = [$pool->acquire(), $pool->acquire()];
try {
    $pool->acquire(timeout(1));
} catch (AwaitCancelledException) {
    echo "the token was first\n";
}
$pool->release($one);
$pool->release($two);
T\check('nothing is lost', $pool->idleCount() === 2 && $pool->acquire(timeout(1000)) instanceof stdClass);

// with() gives it back in any case.
$pool = new Pool(fn() => new stdClass, max: 1);
T\check('a result', $pool->with(fn(stdClass $thing) => $pool->activeCount()) === 1 && $pool->idleCount() === 1);
try {
    $pool->with(fn() => throw new LogicException('own'));
} catch (LogicException $e) {
    echo $e->getMessage(), ', ', count($pool), "\n";
}
$c = spawn(fn() => $pool->with(fn() => delay(100000)));
T\begun($c);
$c->cancel();
T\failure($c);
T\check('a cancelled one', count($pool) === 0 && $pool->tryAcquire() !== null);
foreach ([fn() => $pool->release(new stdClass), fn() => $pool->release(5)] as $call) {
    try {
        $call();
    } catch (AsyncException $e) {
        echo $e->getMessage(), "\n";
    }
}
?>
--EXPECT--
in order: yes
two were made: yes
the last one is the next: yes
cancelled: yes
what was handed to it goes to the next: yes
it belongs to the one that waits: yes
the token was first
nothing is lost: yes
a result: yes
own, 0
a cancelled one: yes
The pool has not lent this, or it was released already
The pool has not lent this, or it was released already
