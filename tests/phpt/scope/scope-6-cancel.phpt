--TEST--
SCOPE-6 CANC-2 cancelled waits of each kind, reasons of own classes, cancelling from within, protect()
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{BoundedScope, CancellationException, CoroutineGroup, Lifetime, Scope};
use function Async\{await, awaitChildren, currentCoroutine, delay, protect, spawn, suspend, timeout};

class Reason extends CancellationException {}

$reason = new Reason('reason');
[$scope, $topDown, $bounded, $cancelled] = [new Scope, new Scope(Lifetime::TopDown), new BoundedScope, new Scope];
$group = new CoroutineGroup;
foreach ([$scope, $topDown, $bounded, $group] as $in) {
    $in->spawn(fn() => T\turns(200));
}
T\parked($cancelled->spawn(fn() => protect(fn() => T\turns(200))));
$cancelled->cancel();
$waits = [
    'awaitCompletion' => fn() => $scope->awaitCompletion(timeout(60_000)),
    'awaitDirectChildren' => fn() => $scope->awaitDirectChildren(),
    'awaitAfterCancellation' => fn() => $cancelled->awaitAfterCancellation(),
    'with a handler' => fn() => $cancelled->awaitAfterCancellation(fn() => 1, timeout(60_000)),
    'a scope' => fn() => await($topDown),
    'a bounded scope' => fn() => await($bounded),
    'a group' => fn() => await($group),
    'with tokens' => fn() => await($group, $bounded),
    'awaitChildren' => function() { spawn(fn() => T\turns(200)); awaitChildren(); },
];
foreach ($waits as $name => $wait) {
    $waiter = spawn($wait);
    T\turns(1);
    $waiter->cancel($reason);
    $waiter->cancel(new CancellationException('too late'));
    try {
        await($waiter);
    } catch (CancellationException $e) {
        attempt($name, fn() => [$e === $reason, $waiter->isCancelled()]);
    }
}
attempt('they go on', fn() => [await($group), await($bounded), $scope->awaitCompletion(timeout(60_000))]);

echo "from within\n";
$scope = new Scope;
$coroutine = $scope->spawn(function() use ($scope, $reason) {
    $scope->cancel($reason);
    attempt('spawn', fn() => spawn('strlen', 'x'));
    attempt('goes on', fn() => currentCoroutine()->isCancellationRequested());
    attempt('next suspension', fn() => suspend());
    return 'result';
});
attempt('coroutine', fn() => await($coroutine));
attempt('scope', fn() => $scope->awaitCompletion(timeout(60_000)));

echo "protected\n";
$scope = new Scope;
$coroutine = $scope->spawn(fn() => protect(function() { T\turns(20); echo "completed\n"; }));
T\turns(1);
$scope->cancel($reason);
attempt('wind-down', fn() => $scope->awaitAfterCancellation());
attempt('coroutine', fn() => await($coroutine));
?>
--EXPECT--
awaitCompletion: [true,true]
awaitDirectChildren: [true,true]
awaitAfterCancellation: [true,true]
with a handler: [true,true]
a scope: [true,true]
a bounded scope: [true,true]
a group: [true,true]
with tokens: [true,true]
awaitChildren: [true,true]
they go on: [[null],null,null]
from within
spawn: Async\AsyncException: Coroutine scope is closed
goes on: true
next suspension: Reason: reason
coroutine: "result"
scope: Reason: reason
protected
completed
wind-down: null
coroutine: Reason: reason
