--TEST--
ERR-8 Reports name the coroutine and who has spawned it, no place is unknown, and nothing is told twice
--INI--
async.seed=0
--FILE--
<?php
require __DIR__ . '/kit.inc';

$run = function(string $name, string $code) {
    $ended = T\php('use Async\Scope; use function Async\{await, delay, spawn, suspend, timeout, onFinally, gracefulShutdown};' . "\n$code", '-d display_errors=1 -d log_errors=0 -d html_errors=0');
    echo "-- $name: ", T\as_in_8_2(preg_replace('~/\S+/spindle-phpt-\w+~', 'FILE', $ended)), "\n";
    foreach (['no active file', 'Unknown', 'line 0'] as $nowhere) {
        echo $ended->has($nowhere) ? "NOWHERE: $nowhere\n" : '';
    }
};
$run('a chain', 'function deeper(int $n) { if ($n) spawn("deeper", $n - 1); else throw new LogicException("deep"); }
spawn("deeper", 7);');
$run('too few', '$s = new Scope;
$s->spawn(function($needed) { });
delay(20);');
$run('in a handler', '$s = new Scope;
$s->setExceptionHandler(function() { throw new LogicException("of the handler"); });
$s->spawn(function() { throw new RuntimeException("of the coroutine"); });');
$run('callbacks', 'spawn(function() {
onFinally(fn() => throw new LogicException("first"));
onFinally(fn() => throw new LogicException("second"));
});');
$run('the cause', 'spawn(function() { try { delay(600_000); } finally { throw new RuntimeException("cleanup"); } });
spawn(function() { suspend(); throw new LogicException("cause"); });');
$run('main', 'spawn(fn() => 1);
throw new LogicException("main");');
$run('its own class', 'class E extends Exception { function __toString(): string { return "my text"; } }
spawn(function() { throw new E; });');
$run('handler of the program', 'set_exception_handler(function($e) { echo "handler: ", $e->getMessage(), "\n"; });
register_shutdown_function(function() { var_dump(error_get_last()); });
spawn(function() { throw new LogicException("one"); });');
$run('handler that throws', 'set_exception_handler(function($e) { throw new LogicException("by the handler"); });
spawn(function() { throw new RuntimeException("one"); });');
$run('last error', 'register_shutdown_function(function() { echo strtok(error_get_last()["message"], "\n"), "\n"; });
(new Scope)->spawn(fn() => delay(20));
spawn(function() { throw new LogicException("one"); });');
$run('deadlock', 'spawn(function() { (new ReflectionClass("Fiber"))->getName(); $a = spawn(function() use (&$b) { await($b); });
$b = spawn(function() use (&$a) { await($a); }); });');
$run('exits', '$s = new Scope;
$s->spawn(function() { try { delay(600_000); } finally { exit(3); } });
$s->spawn(function() { suspend(); throw new LogicException("seen"); });
delay(600_000);');
?>
--EXPECT--
-- a chain: [255] 
Fatal error: Uncaught LogicException: deep in FILE:3
Stack trace:
#0 [internal function]: deeper(0)
#1 {main}
  in coroutine #9, spawned at FILE:3
  by coroutine #8, spawned at FILE:3
  by coroutine #7, spawned at FILE:3
  by coroutine #6, spawned at FILE:3
  by coroutine #5, spawned at FILE:3
  by coroutine #4, spawned at FILE:3
  thrown in FILE on line 3

-- too few: [255] 
Fatal error: Uncaught ArgumentCountError: Too few arguments to function {closure}(), 0 passed and exactly 1 expected in FILE:4
Stack trace:
#0 [internal function]: {closure}()
#1 {main}
  in coroutine #2, spawned at FILE:4
  thrown in FILE on line 4

-- in a handler: [255] 
Fatal error: Uncaught LogicException: of the handler in FILE:4
Stack trace:
#0 [internal function]: {closure}(Object(Async\Scope), Object(Async\Coroutine), Object(RuntimeException))
#1 {main}
  after RuntimeException: of the coroutine in FILE:5
  in coroutine #2, spawned at FILE:5
  thrown in FILE on line 4

-- callbacks: [255] 
Fatal error: Uncaught Async\CompositeException: 2 callbacks for an end have thrown in FILE:5
Stack trace:
#0 {main}
  in coroutine #2, spawned at FILE:3
  thrown in FILE on line 5

-- the cause: [255] 
Fatal error: Uncaught LogicException: cause in FILE:4
Stack trace:
#0 [internal function]: {closure}()
#1 {main}
  in coroutine #3, spawned at FILE:4
  thrown in FILE on line 4

Fatal error: Uncaught Async\CancellationException: cancelled by graceful shutdown because of an unhandled LogicException: cause, thrown at FILE:4 in coroutine #3, spawned at FILE:4 in FILE:4
Stack trace:
#0 {main}

Next RuntimeException: cleanup in FILE:3
Stack trace:
#0 [internal function]: {closure}()
#1 {main}
  after LogicException: cause in FILE:4
  in coroutine #2, spawned at FILE:3
  thrown in FILE on line 3

-- main: [255] 
Fatal error: Uncaught LogicException: main in FILE:4
Stack trace:
#0 {main}
  thrown in FILE on line 4

-- its own class: [255] 
Fatal error: Uncaught my text
  in coroutine #2, spawned at FILE:4
  thrown in FILE on line 4

-- handler of the program: [255] handler: one
NULL

-- handler that throws: [255] 
Fatal error: Uncaught LogicException: by the handler in FILE:3
Stack trace:
#0 [internal function]: {closure}(Object(RuntimeException))
#1 {main}
  thrown in FILE on line 3

-- last error: [255] 
Warning: Coroutine is zombie at FILE:4 in Scope disposed at [its object was released]:0 in FILE on line 4

Fatal error: Uncaught LogicException: one in FILE:5
Stack trace:
#0 [internal function]: {closure}()
#1 {main}
  in coroutine #3, spawned at FILE:5
  thrown in FILE on line 5
Uncaught LogicException: one in FILE:5

-- deadlock: [255] 
Warning: Deadlock: coroutine #3 (spawned at FILE:3) is suspended at FILE:3 and waits for await() of coroutine #4 in FILE on line 3

Warning: Deadlock: coroutine #4 (spawned at FILE:4) is suspended at FILE:4 and waits for await() of coroutine #3 in FILE on line 4

Fatal error: Uncaught Async\DeadlockError: Deadlock: 2 coroutines wait for what can never happen in FILE:3
Stack trace:
#0 {main}
  thrown in FILE on line 3

-- exits: [3] 
Fatal error: Uncaught LogicException: seen in FILE:5
Stack trace:
#0 [internal function]: {closure}()
#1 {main}
  in coroutine #3, spawned at FILE:5
  thrown in FILE on line 5

