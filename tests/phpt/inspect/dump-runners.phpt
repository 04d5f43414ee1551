--TEST--
dump() shows who runs callbacks for an end and exception handlers, cancellation that waits, and queued coroutines
--INI--
async.seed=0
--FILE--
<?php
use Async\Scope;
use function Async\{await, delay, dump, onFinally, protect, spawn, suspend};

require __DIR__ . '/kit.inc';

$over = false;
$ends = spawn(function () use (&$over) { T\until(function () use (&$over) { return $over; }); });
$scope = new Scope;
$scope->setExceptionHandler(fn($e) => await($ends));
$scope->spawn(fn() => throw new Exception('a'));
$last = spawn(fn() => onFinally(fn() => await($ends)));
$held = spawn(fn() => protect(fn() => await($ends)));
$gives = spawn(fn() => suspend());
T\turns(5);
$held->cancel();
$new = spawn(fn() => 1);
dump();
$over = true;
$scope->onFinally(function ($scope) {
    dump();
});
?>
--EXPECTF--
Async\dump: 5 coroutines in 2 scopes
global scope, lifetime scope, open: 5 coroutines
  #1 running, the script itself
  #2 %s, spawned at %s:8, suspended at %skit.inc:%d%S
  #4 suspended, spawned at %s:12, in the callbacks for its end, suspended at %s:12, waits in await() of coroutine #2 for %d.%d s
  #5 suspended, cancellation requested, spawned at %s:13, suspended at %s:13, waits in await() of coroutine #2 for %d.%d s
  #%d queued, not started, spawned at %s:17
Scope created at %s:9, lifetime scope, open: 0 coroutines
  #%d suspended, exception handler, for coroutine #3, suspended at %s:10, waits in await() of coroutine #2 for %d.%d s
Async\dump: %d coroutine%S in 2 scopes
global scope, lifetime scope, open%A
Scope created at %s:9, lifetime scope, open, finished: 0 coroutines
  #%d running, callbacks for the end of its scope
