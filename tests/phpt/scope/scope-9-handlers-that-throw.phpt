--TEST--
SCOPE-9 ERR-1 handlers that throw at each level, the same exception again, a cancellation; cancelled handlers
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{CancellationException, Coroutine, Scope};
use function Async\{currentCoroutine, delay, timeout};

echo "each level\n";
$top = new Scope;
$middle = Scope::inherit($top);
$bottom = Scope::inherit($middle);
$bottom->setExceptionHandler(fn(Throwable $e) => throw new LogicException('one', 0, $e));
$middle->setChildScopeExceptionHandler(fn(Throwable $e) => throw new DomainException('two', 0, $e));
$top->setChildScopeExceptionHandler(function(Scope $scope, Coroutine $failed, Throwable $e) use ($top, &$first) {
    echo said($e), ' ', json_encode([$scope === $top, $failed === $first]), "\n";
});
$first = $bottom->spawn('fails');
attempt('top', fn() => $top->awaitCompletion(timeout(60_000)));
attempt('cancelled', fn() => [$bottom->isCancelled(), $middle->isCancelled(), $top->isCancelled()]);

$again = function(string $name, callable $handler) {
    echo "$name\n";
    $parent = new Scope;
    $child = Scope::inherit($parent);
    $child->setExceptionHandler($handler);
    $parent->setExceptionHandler(fn(Throwable $e) => print('parent: ' . said($e) . "\n"));
    $child->spawn('fails');
    attempt('parent', fn() => $parent->awaitCompletion(timeout(60_000)));
};
$again('the same', fn(Throwable $e) => throw $e);
// the failure has not been handled then
$again('a cancellation', fn(Throwable $e) => throw new CancellationException('thrown'));
$again('a handler that is cancelled', function(Throwable $e) {
    currentCoroutine()->cancel();
    delay(600_000);
    echo "not reached\n";
});

echo "a waiter of the parent\n";
$parent = new Scope;
$child = Scope::inherit($parent);
$child->setExceptionHandler(fn(Throwable $e) => throw new LogicException('of the handler', 0, $e));
$child->spawn('fails');
attempt('parent', fn() => $parent->awaitCompletion(timeout(60_000)));

echo "set later\n";
$parent = new Scope;
$child = Scope::inherit($parent);
$child->spawn(function() { T\turns(10); fails('one'); });
$parent->setChildScopeExceptionHandler(fn(Throwable $e) => print("late: {$e->getMessage()}\n"));
attempt('parent', fn() => $parent->awaitCompletion(timeout(60_000)));
?>
--EXPECT--
each level
DomainException: two <- LogicException: one <- RuntimeException: failure [true,true]
top: null
cancelled: [false,false,false]
the same
parent: RuntimeException: failure
parent: null
a cancellation
parent: RuntimeException: failure
parent: null
a handler that is cancelled
parent: RuntimeException: failure
parent: null
a waiter of the parent
parent: LogicException: of the handler <- RuntimeException: failure
set later
late: one
parent: null
