--TEST--
GRP-6 RateLimiter: order, several permits, tokens, cancelled waits, wrong arguments
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{CancellationException, RateLimiter};
use function Async\{await, delay, spawn, suspend, timeout};

$limiter = new RateLimiter(3, 20);
$times = $order = [];
$begin = hrtime(true);
$all = in_turn(...array_map(function($i) use ($limiter, $begin, &$times, &$order) { return function() use ($i, $limiter, $begin, &$times, &$order) { $limiter->acquire(); $times[] = (hrtime(true) - $begin) / 1e6; $order[] = $i; }; }, range(1, 10)));
T\ended(...$all);
echo implode(' ', $order), "\n";
// Who has a permit may note the time later than that.
foreach ([3 => 20, 6 => 40, 9 => 60] as $i => $least) T\check("no more than $i in $least ms", $times[$i] >= $least, $times);

$limiter = new RateLimiter(3, 100_000);
attempt('two', fn() => $limiter->acquire(2));
attempt('two more, without a wait', fn() => $limiter->tryAcquire(2));
attempt('one more', fn() => $limiter->tryAcquire());
attempt('a further one', fn() => $limiter->tryAcquire());
attempt('a token', fn() => $limiter->acquire(1, timeout(5)));

echo "-- a long one at the front\n";
$limiter = new RateLimiter(3, 100_000);
$limiter->acquire();
[$three, $one] = in_turn(fn() => $limiter->acquire(3), fn() => $limiter->acquire());
attempt('others wait behind it', fn() => $limiter->tryAcquire());
$three->cancel(new CancellationException('by the test'));
attempt('it is cancelled', fn() => await($three));
attempt('the next one has its turn', fn() => await($one));
attempt('and so have those that do not wait', fn() => $limiter->tryAcquire());
[$first, $second] = in_turn(fn() => $limiter->acquire(), fn() => $limiter->acquire(1, timeout(5)));
attempt('a token in the queue', fn() => await($second));
$first->cancel();

echo "-- arguments\n";
attempt('no permits', fn() => new RateLimiter(0, 1));
attempt('no time', fn() => new RateLimiter(1, 0));
attempt('none', fn() => $limiter->acquire(0));
attempt('more than there are', fn() => $limiter->acquire(4));
attempt('more than there are, tried', fn() => $limiter->tryAcquire(4));
attempt('twice', fn() => $limiter->__construct(1, 1));
attempt('not constructed', fn() => (new ReflectionClass(RateLimiter::class))->newInstanceWithoutConstructor()->acquire());
attempt('the largest', function() { $one = new RateLimiter(PHP_INT_MAX, PHP_INT_MAX); $one->acquire(PHP_INT_MAX); return $one->tryAcquire(); });
?>
--EXPECT--
1 2 3 4 5 6 7 8 9 10
no more than 3 in 20 ms: yes
no more than 6 in 40 ms: yes
no more than 9 in 60 ms: yes
two: null
two more, without a wait: false
one more: true
a further one: false
a token: Async\TimeoutException: The wait was given up after 5 ms
-- a long one at the front
others wait behind it: false
it is cancelled: Async\CancellationException: by the test
the next one has its turn: null
and so have those that do not wait: true
a token in the queue: Async\TimeoutException: The wait was given up after 5 ms
-- arguments
no permits: ValueError: Async\RateLimiter::__construct(): Argument #1 ($permits) must be at least 1
no time: ValueError: Async\RateLimiter::__construct(): Argument #2 ($milliseconds) must be at least 1
none: ValueError: Async\RateLimiter::acquire(): Argument #1 ($n) must be at least 1
more than there are: ValueError: Async\RateLimiter::acquire(): Argument #1 ($n) must not be greater than the 3 permits of a period
more than there are, tried: ValueError: Async\RateLimiter::tryAcquire(): Argument #1 ($n) must not be greater than the 3 permits of a period
twice: Async\AsyncException: The rate limiter is constructed already
not constructed: ReflectionException: Class Async\RateLimiter is an internal class marked as final that cannot be instantiated without invoking its constructor
the largest: false
