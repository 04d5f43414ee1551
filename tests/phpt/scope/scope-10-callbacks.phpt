--TEST--
SCOPE-10 CORO-9 callbacks that throw, wait, spawn, register, cancel, and await
--INI--
async.seed=0
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{CancellationException, CompositeException, Coroutine, Lifetime, Scope};
use function Async\{await, currentCoroutine, currentScope, delay, spawn, suspend, timeout};

$listed = fn(Throwable $e) => $e instanceof CompositeException ? 'several: ' . implode(', ', array_map('said', $e->getExceptions())) : said($e);

echo "of coroutines, in a scope with a handler\n";
$scope = new Scope;
$scope->setExceptionHandler(function(Scope $s, Coroutine $of, Throwable $e) use (&$coroutine, $listed) {
    echo $listed($e), ' ', json_encode($of === $coroutine), "\n";
});
foreach ([1, 2] as $count) {
    $coroutine = $scope->spawn(fn() => 'result');
    for ($i = 1; $i <= $count; $i++) {
        $coroutine->onFinally(fn() => fails("callback $i"));
    }
    attempt('scope', fn() => $scope->awaitCompletion(timeout(60_000)));
    attempt('coroutine', fn() => await($coroutine));
}
echo "of a scope with a handler\n";
$scope = new Scope;
$scope->setExceptionHandler(fn(Scope $s, $of, Throwable $e) => print($listed($e) . "\n"));
$scope->onFinally(fn() => fails('first'));
$scope->onFinally(fn() => fails('second'));
$scope->spawn(fn() => 1);
attempt('scope', fn() => $scope->awaitCompletion(timeout(60_000)));
T\turns(5);

echo "a coroutine's that works\n";
$scope = new Scope;
$coroutine = $scope->spawn(fn() => 'result');
$coroutine->onFinally(function(Coroutine $coroutine) use ($scope) {
    T\turns(10);
    echo "has waited\n";
    $coroutine->cancel();
    attempt('the outcome stays', fn() => [$coroutine->isCancelled(), await($coroutine)]);
    attempt('own scope', fn() => $scope->awaitCompletion(timeout(60_000)));
    $coroutine->onFinally(function() use ($scope) { echo "registered in a callback\n"; });
    spawn(function() use ($scope) { T\turns(20); echo 'spawned in its scope: ', json_encode(currentScope() === $scope), "\n"; });
});
attempt('scope', fn() => $scope->awaitCompletion(timeout(60_000)));

echo "a scope's that works\n";
$scope = new Scope;
$scope->onFinally(function(Scope $s) use ($scope) {
    T\turns(5);
    attempt('finished', fn() => [$s === $scope, $s->isFinished()]);
    $s->spawn(function() { T\turns(5); echo "spawned in a callback\n"; });
    attempt('finished', fn() => $s->isFinished());
    attempt('own scope', fn() => $s->awaitCompletion(timeout(60_000)));
    $s->onFinally(fn() => print("again\n"));
});
$scope->spawn(fn() => 1);
T\turns(60);

echo "in a cancelled scope\n";
$scope = new Scope;
$scope->onFinally(function(Scope $scope) {
    attempt('spawn', fn() => spawn('strlen', 'x'));
    attempt('its spawn', fn() => $scope->spawn('strlen', 'x'));
    attempt('inherit', fn() => Scope::inherit());
    attempt('another scope', fn() => await(($GLOBALS['other'] = new Scope)->spawn('strlen', 'x')));
});
$scope->spawn(fn() => delay(600_000));
suspend();
$scope->cancel();
attempt('scope', fn() => $scope->awaitAfterCancellation());
T\turns(5);

echo "that cancels\n";
$scope = new Scope;
$scope->onFinally(function(Scope $scope) {
    $scope->cancel(new CancellationException('by a callback'));
    T\turns(5);
    echo "the callback goes on\n";
});
$scope->spawn(fn() => 1);
T\turns(20);
attempt('scope', fn() => $scope->awaitCompletion(timeout(60_000)));
$coroutine = spawn(fn() => 1);
$coroutine->onFinally(function() {
    currentCoroutine()->cancel(new CancellationException('of one that has ended'));
    attempt('delay', fn() => delay(1));
});
await($coroutine);

echo "of scopes that have ended, or never began\n";
$scope = new Scope;
$scope->spawn(fn() => 1);
$scope->awaitCompletion(timeout(60_000));
$scope->onFinally(fn(Scope $s) => print("had finished\n"));
T\turns(5);
$scope = new Scope;
$scope->onFinally(fn() => print("disposed, never used\n"));
T\turns(5);
$scope->dispose();
T\turns(5);
$scope = new Scope;
$scope->cancel();
$scope->onFinally(fn() => print("was cancelled\n"));
T\turns(5);
?>
--EXPECT--
of coroutines, in a scope with a handler
RuntimeException: callback 1 true
scope: null
coroutine: "result"
several: RuntimeException: callback 2, RuntimeException: callback 1 true
scope: null
coroutine: "result"
of a scope with a handler
several: RuntimeException: second, RuntimeException: first
scope: null
a coroutine's that works
has waited
the outcome stays: [false,"result"]
own scope: Async\AsyncException: Awaiting a scope from within itself or its child scope would cause a deadlock. Scope created at scope-10-callbacks.php:31
registered in a callback
spawned in its scope: true
scope: null
a scope's that works
finished: [true,true]
finished: false
own scope: Async\AsyncException: Awaiting a scope from within itself or its child scope would cause a deadlock. Scope created at scope-10-callbacks.php:45
spawned in a callback
again
in a cancelled scope
spawn: Async\AsyncException: Coroutine scope is closed
its spawn: Async\AsyncException: Coroutine scope is closed
inherit: Async\AsyncException: Coroutine scope is closed
scope: null
another scope: 1
that cancels
the callback goes on
scope: Async\CancellationException: by a callback
delay: null
of scopes that have ended, or never began
had finished
disposed, never used
was cancelled
