--TEST--
dump() shows who runs callbacks and exception handlers, cancellation that waits, and queued coroutines
--INI--
async.seed=0
--FILE--
<?php
use Async\Scope;
use function Async\{await, delay, dump, onFinally, protect, spawn, suspend};

require __DIR__ . '/kit.inc';

$scope = new Scope;
$scope->setExceptionHandler(fn($e) => delay(100));
$scope->spawn(fn() => throw new Exception('a'));
$last = spawn(fn() => onFinally(fn() => delay(100)));
$held = spawn(fn() => protect(fn() => delay(100)));
$gives = spawn(fn() => suspend());
delay(20);
$held->cancel();
$new = spawn(fn() => 1);
dump();
$scope->onFinally(function ($scope) {
    dump();
});
?>
--EXPECTF--
Async\dump: 3 coroutines in 2 scopes
global scope, lifetime scope, open: 3 coroutines
  #1 running, the script itself
  #4 suspended, cancellation requested, spawned at %s:11, suspended at %s:11, waits in delay() for 0.0 s
  #%d queued, not started, spawned at %s:15
  #%d suspended, callbacks for the end of coroutine #3, suspended at %s:10, waits in delay() for 0.0 s
Scope created at %s:7, lifetime scope, open: 0 coroutines
  #%d suspended, exception handler, for coroutine #2, suspended at %s:8, waits in delay() for 0.0 s
Async\dump: %d coroutine%S in 2 scopes
global scope, lifetime scope, open%A
Scope created at %s:7, lifetime scope, open, finished: 0 coroutines
  #%d running, callbacks for the end of its scope
