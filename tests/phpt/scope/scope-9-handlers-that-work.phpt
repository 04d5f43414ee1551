--TEST--
SCOPE-9 handlers that wait, spawn, await, are replaced, cancel or dispose of their scope
--INI--
async.seed=0
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{CancellationException, Scope};
use function Async\{await, spawn, timeout};

function handled(string $name, callable $handler, ?callable $sibling = null): void
{
    echo "$name\n";
    $scope = new Scope;
    $scope->setExceptionHandler(fn(Scope $s, $failed, Throwable $e) => $handler($s, $failed, $e));
    $scope->spawn('fails');
    $sibling && $scope->spawn($sibling);
    attempt('scope', fn() => $scope->awaitCompletion(timeout(60_000)));
    T\turns(30);
}
handled('waits and spawns', function(Scope $scope) {
    T\turns(20);
    $scope->spawn(function() { T\turns(40); echo "a member has ended\n"; });
    spawn(function() { T\turns(20); echo "one of the same scope has ended\n"; });
    T\turns(5);
    echo "the handler has ended\n";
});
handled('cancels', function(Scope $scope) {
    $scope->cancel(new CancellationException('by the handler'));
    T\turns(5);
    echo "the handler goes on\n";
}, fn() => works('sibling', 600_000));
handled('disposes', function(Scope $scope) {
    @$scope->dispose();
    T\turns(5);
    echo "the handler goes on\n";
}, fn() => works('sibling', 600_000));
handled('awaits', function(Scope $scope, $failed, $e) {
    attempt('own', fn() => $scope->awaitCompletion(timeout(60_000)));
    attempt('own members', fn() => $scope->awaitDirectChildren());
    attempt('the failed one', fn() => await($failed));
    attempt('another', fn() => await(spawn(fn() => 'result')));
});

echo "of a child scope\n";
$parent = new Scope;
$middle = Scope::inherit($parent);
$child = Scope::inherit($middle);
$parent->setChildScopeExceptionHandler(function() use ($parent, $middle, $child) {
    // they do not finish before this handler does
    foreach ([$parent, $middle, $child] as $scope) {
        attempt('await', fn() => $scope->awaitCompletion(timeout(60_000)));
    }
    attempt('await', fn() => $child->awaitAfterCancellation());
});
$child->spawn('fails');
attempt('parent', fn() => $parent->awaitCompletion(timeout(60_000)));

echo "replaced while it runs\n";
$scope = new Scope;
$scope->setExceptionHandler(function(Throwable $e) use ($scope) {
    $scope->setExceptionHandler(fn(Throwable $e) => print("new: {$e->getMessage()}\n"));
    T\turns(50);
    echo "old: {$e->getMessage()}\n";
});
$scope->spawn('fails', 'one');
$scope->spawn(function() { T\turns(20); fails('two'); });
attempt('scope', fn() => $scope->awaitCompletion(timeout(60_000)));
?>
--EXPECT--
waits and spawns
the handler has ended
one of the same scope has ended
a member has ended
scope: null
cancels
sibling is cancelled
scope: Async\CancellationException: by the handler
the handler goes on
disposes
sibling is cancelled
scope: Async\CancellationException: cancelled because its scope was disposed of at scope-9-handlers-that-work.php:29
the handler goes on
awaits
own: Async\AsyncException: Awaiting a scope from within itself or its child scope would cause a deadlock. Scope created at scope-9-handlers-that-work.php:9
own members: Async\AsyncException: Awaiting a scope from within itself or its child scope would cause a deadlock. Scope created at scope-9-handlers-that-work.php:9
the failed one: RuntimeException: failure
another: "result"
scope: null
of a child scope
await: Async\AsyncException: Awaiting a scope from within itself or its child scope would cause a deadlock. Scope created at scope-9-handlers-that-work.php:41
await: Async\AsyncException: Awaiting a scope from within itself or its child scope would cause a deadlock. Scope created at scope-9-handlers-that-work.php:42
await: Async\AsyncException: Awaiting a scope from within itself or its child scope would cause a deadlock. Scope created at scope-9-handlers-that-work.php:43
await: Async\AsyncException: Awaiting a scope from within itself or its child scope would cause a deadlock. Scope created at scope-9-handlers-that-work.php:43
parent: null
replaced while it runs
new: two
old: one
scope: null
