--TEST--
GRP-6 retry(): attempts, pauses, what is worth another attempt, cancellations, wrong arguments
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{CancellationException, TimeoutException};
use function Async\{await, currentCoroutine, delay, protect, retry, spawn, suspend, timeout, withTimeout};

function failing(int $times, string $class = DomainException::class): Closure
{
    return function(int $attempt) use ($times, $class) { echo "  attempt $attempt\n"; return $attempt > $times ? 'a result' : throw new $class("no $attempt"); };
}

attempt('at once', fn() => retry(failing(0)));
attempt('the third time', fn() => retry(failing(2), delay: 0));
attempt('never', fn() => retry(failing(9), attempts: 2, delay: 0));
attempt('one attempt', fn() => retry(failing(9), 1));
attempt('an internal function', fn() => retry('strval'));
attempt('null is a result', fn() => retry(fn() => null));
attempt('errors, too', fn() => retry(failing(1, Error::class), delay: 0));
attempt('time limits, too', fn() => retry(fn(int $attempt) => withTimeout($attempt === 1 ? 5 : 100_000, fn() => $attempt === 1 ? delay(100_000) : 'in time'), delay: 0));

echo "-- when\n";
attempt('worth it', fn() => retry(failing(1), delay: 0, when: fn($e) => $e instanceof DomainException));
attempt('not worth it', fn() => retry(failing(9, LogicException::class), delay: 0, when: fn($e) => $e instanceof DomainException));
attempt('it throws', fn() => retry(failing(9), delay: 0, when: fn($e) => throw new LogicException('of when')));
attempt('not asked the last time', fn() => retry(failing(9), 1, 0, when: fn() => print("never\n")));

echo "-- cancelled\n";
attempt('in an attempt', function() {
    $caller = spawn(fn() => retry(function(int $attempt) { echo "  attempt $attempt\n"; delay(100_000); }, delay: 0));
    T\parked($caller);
    $caller->cancel(new CancellationException('by the test'));
    await($caller);
});
$wraps = function(int $attempt) { echo "  attempt $attempt\n"; try { delay(100_000); } catch (CancellationException $e) { throw new DomainException('wrapped'); } };
attempt('a task that wraps it', function() use ($wraps) {
    $caller = spawn(fn() => retry($wraps, delay: 0));
    T\parked($caller);
    $caller->cancel(new CancellationException('by the test'));
    await($caller);
});
attempt('or that of a limit', fn() => withTimeout(5, fn() => retry($wraps, delay: 0)));
attempt('in its cleanup', function() {
    $caller = spawn(function() { try { delay(100_000); } finally { echo '  ' . retry(failing(2), delay: 0), "\n"; } });
    T\parked($caller);
    $caller->cancel(new CancellationException('by the test'));
    await($caller);
});
attempt('while it is deferred', function() {
    $caller = spawn(fn() => protect(fn() => retry(function(int $attempt) { suspend(); return failing(2)($attempt); }, delay: 0)));
    T\parked($caller);
    $caller->cancel(new CancellationException('by the test'));
    return await($caller);
});
attempt('in a pause', function() {
    $caller = spawn(fn() => retry(failing(9), delay: 100_000));
    T\parked($caller);
    $caller->cancel(new CancellationException('by the test'));
    await($caller);
});
attempt('one of another coroutine', fn() => retry(function() { echo "  an attempt\n"; $one = spawn(fn() => 1); $one->cancel(new CancellationException('another')); await($one); }, delay: 0));
attempt('a limit of all', fn() => withTimeout(5, fn() => retry(fn() => throw new DomainException('no'), PHP_INT_MAX, 1, 1.0)));

echo "-- pauses\n";
$times = [];
try { retry(function() use (&$times) { $times[] = hrtime(true) / 1e6; throw new DomainException; }, 4, 10, 2.0, 0.0); } catch (DomainException) {}
foreach ([10, 20, 40] as $i => $least) T\check("at least $least ms", $times[$i + 1] - $times[$i] >= $least - 0.1, $times);
$times = [];
try { retry(function() use (&$times) { $times[] = hrtime(true) / 1e6; throw new DomainException; }, 3, 10, jitter: 1.0); } catch (DomainException) {}
echo count($times), "\n";

echo "-- arguments\n";
attempt('no attempts', fn() => retry(fn() => 1, 0));
attempt('a negative delay', fn() => retry(fn() => 1, delay: -1));
attempt('a small factor', fn() => retry(fn() => 1, factor: 0.5));
attempt('no number', fn() => retry(fn() => 1, factor: NAN));
attempt('too large', fn() => retry(fn() => 1, factor: INF));
attempt('a negative jitter', fn() => retry(fn() => 1, jitter: -0.1));
attempt('a large jitter', fn() => retry(fn() => 1, jitter: 1.1));
attempt('null', fn() => retry(fn() => 1, factor: null));
attempt('an integer', fn() => retry(fn() => 1, factor: 3));
attempt('no callable', fn() => retry('nothing'));
attempt('no when', fn() => retry(fn() => 1, when: 'nothing'));
retry(function() { exit("an exit\n"); });
?>
--EXPECT--
  attempt 1
at once: "a result"
  attempt 1
  attempt 2
  attempt 3
the third time: "a result"
  attempt 1
  attempt 2
never: DomainException: no 2
  attempt 1
one attempt: DomainException: no 1
an internal function: "1"
null is a result: null
  attempt 1
  attempt 2
errors, too: "a result"
time limits, too: "in time"
-- when
  attempt 1
  attempt 2
worth it: "a result"
  attempt 1
not worth it: LogicException: no 1
  attempt 1
it throws: LogicException: of when
  attempt 1
not asked the last time: DomainException: no 1
-- cancelled
  attempt 1
in an attempt: Async\CancellationException: by the test
  attempt 1
a task that wraps it: DomainException: wrapped
  attempt 1
or that of a limit: Async\TimeoutException: The call was given up after 5 ms after DomainException: wrapped
  attempt 1
  attempt 2
  attempt 3
  a result
in its cleanup: Async\CancellationException: by the test
  attempt 1
  attempt 2
  attempt 3
while it is deferred: "a result"
  attempt 1
in a pause: Async\CancellationException: by the test
  an attempt
one of another coroutine: Async\CancellationException: another
a limit of all: Async\TimeoutException: The call was given up after 5 ms
-- pauses
at least 10 ms: yes
at least 20 ms: yes
at least 40 ms: yes
3
-- arguments
no attempts: ValueError: Async\retry(): Argument #2 ($attempts) must be at least 1
a negative delay: ValueError: Async\retry(): Argument #3 ($delay) must not be negative
a small factor: ValueError: Async\retry(): Argument #4 ($factor) must be a finite number of at least 1
no number: ValueError: Async\retry(): Argument #4 ($factor) must be a finite number of at least 1
too large: ValueError: Async\retry(): Argument #4 ($factor) must be a finite number of at least 1
a negative jitter: ValueError: Async\retry(): Argument #5 ($jitter) must be between 0 and 1
a large jitter: ValueError: Async\retry(): Argument #5 ($jitter) must be between 0 and 1
null: TypeError: Async\retry(): Argument #4 ($factor) must be of type float, null given
an integer: 1
no callable: TypeError: Async\retry(): Argument #1 ($task) must be a valid callback, function "nothing" not found or invalid function name
no when: TypeError: Async\retry(): Argument #6 ($when) must be a valid callback or null, function "nothing" not found or invalid function name
an exit
