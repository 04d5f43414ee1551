--TEST--
PRIM-2 Future and FutureState: completed once, awaited by many; misuse is refused
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{Awaitable, Future, FutureState};
use function Async\{await, spawn, timeout};

$s = new FutureState;
$f = new Future($s);
$second = new Future(state: $s);
$waiters = [spawn(fn() => await($f)), spawn(fn() => $f->await()), spawn(fn() => $second->await(cancellation: null)), spawn(fn() => $f->await(timeout(60000)))];
T\begun(...$waiters);
attempt('token', fn() => $f->await(timeout(1)));
attempt('open', fn() => [$s->isCompleted(), $f->isCompleted(), $second->isCompleted(), $f instanceof Awaitable]);
attempt('complete', fn() => $s->complete(result: 'value'));
attempt('waiters', fn() => T\all($waiters));
attempt('complete', fn() => [$s->isCompleted(), $f->isCompleted(), $second->isCompleted(), await($f), (new Future($s))->await()]);
attempt('again', fn() => $s->complete('another'));
attempt('or fail', fn() => $s->error(new Exception));
attempt('without a value', function() { $s = new FutureState; $s->complete(); return (new Future($s))->await(); });

$failure = new RuntimeException('its failure');
$s = new FutureState;
$f = new Future($s);
$waiters = [spawn(fn() => await($f)), spawn(fn() => $f->await())];
T\begun(...$waiters);
$s->error(throwable: $failure);
foreach ($waiters as $waiter) {
    T\check('the same object', T\failure($waiter) === $failure);
}
attempt('failed', fn() => $f->await());
attempt('again', fn() => $s->complete());
attempt('completed()', fn() => Future::completed(value: 3)->await());
attempt('completed() without a value', fn() => Future::completed()->await());
attempt('failed()', fn() => Future::failed(throwable: new LogicException('given'))->await());
attempt('ignore()', fn() => ($f = new Future(new FutureState))->ignore() === $f);
attempt('no state', fn() => new Future);
attempt('another class', fn() => new Future(new stdClass));
attempt('no exception', fn() => (new FutureState)->error('text'));
attempt('no callable', fn() => Future::completed(1)->map('no_such_function'));
attempt('token that is complete', fn() => (new Future(new FutureState))->await(Future::completed(1)));
?>
--EXPECT--
token: Async\TimeoutException: The wait was given up after 1 ms
open: [false,false,false,true]
complete: null
waiters: ["value","value","value","value"]
complete: [true,true,true,"value","value"]
again: Async\AsyncException: The future is complete already: it is completed once
or fail: Async\AsyncException: The future is complete already: it is completed once
without a value: null
the same object: yes
the same object: yes
failed: RuntimeException: its failure
again: Async\AsyncException: The future is complete already: it is completed once
completed(): 3
completed() without a value: null
failed(): LogicException: given
ignore(): true
no state: ArgumentCountError: Async\Future::__construct() expects exactly 1 argument, 0 given
another class: TypeError: Async\Future::__construct(): Argument #1 ($state) must be of type Async\FutureState, stdClass given
no exception: TypeError: Async\FutureState::error(): Argument #1 ($throwable) must be of type Throwable, string given
no callable: TypeError: Async\Future::map(): Argument #1 ($callback) must be a valid callback, function "no_such_function" not found or invalid function name
token that is complete: Async\AwaitCancelledException: The wait was cancelled by its token
