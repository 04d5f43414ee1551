--TEST--
SCOPE-3 SCOPE-4 failures that come together, or with a token or a cancellation, all reach somebody
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{BoundedScope, CancellationException, CoroutineGroup, Scope};
use function Async\{await, delay, spawn, suspend, timeout};

echo "many cleanups\n";
$scope = new Scope;
for ($i = 0; $i < 50; $i++) {
    $scope->spawn(function() {
        try {
            delay(600_000);
        } finally {
            fails('cleanup');
        }
    });
}
T\turns(1);
$scope->cancel($reason = new CancellationException('reason'));
$count = 0;
$handler = function(Throwable $e, Scope $s) use (&$count) {
    $count++;
    suspend();
};
attempt('wind-down', fn() => $scope->awaitAfterCancellation($handler));
// a reason that all share does not become the end of a long chain
echo "$count failures, the reason is ", said($reason), "\n";

echo "a scope and its token\n";
$parent = new Scope;
$parent->setChildScopeExceptionHandler(fn(Throwable $e) => print("parent: {$e->getMessage()}\n"));
foreach (['await' => fn($one, $two) => await($one, $two), 'awaitCompletion' => fn($one, $two) => $one->awaitCompletion($two)] as $wait) {
    [$one, $two] = [BoundedScope::inherit($parent), BoundedScope::inherit($parent)];
    $begin = spawn(fn() => T\turns(5));
    foreach ([$one, $two] as $scope) {
        $scope->spawn(function() use ($begin) { await($begin); fails('both'); });
    }
    try {
        $wait($one, $two);
    } catch (Exception $e) { // whichever is the first
        echo 'waiter: ', json_encode(str_contains(said($e), 'RuntimeException: both')), "\n";
    }
    T\turns(5);
    $two = BoundedScope::inherit($parent);
    $one = BoundedScope::inherit($parent);
    $one->spawn(fn() => T\turns(40));
    $two->spawn('fails', 'of the token');
    attempt('wait', fn() => $wait($one, $two));
    $one->awaitCompletion(timeout(60_000));
}
$group = new CoroutineGroup;
$group->spawn('fails', 'of a group');
attempt('a group as the token', fn() => await(spawn(fn() => T\turns(40)), $group));
unset($group);
T\turns(60);

echo "a waiter that is cancelled\n";
foreach ([true, false] as $before) {
    $parent = new Scope;
    $above = 'nothing';
    $parent->setChildScopeExceptionHandler(function(Throwable $e) use (&$above) { $above = said($e); });
    $scope = Scope::inherit($parent);
    $waiter = spawn(function() use ($scope) {
        attempt('waits', fn() => $scope->awaitCompletion(timeout(60_000)));
        attempt('then', fn() => T\turns(20));
    });
    $scope->spawn(function() use (&$waiter, $before) {
        T\turns(5);
        if ($before) {
            $waiter->cancel();
        } else {
            Async\onFinally(fn() => $waiter->cancel());
        }
        fails();
    });
    await($waiter);
    echo "at the parent: $above\n";
}
?>
--EXPECT--
many cleanups
wind-down: null
50 failures, the reason is Async\CancellationException: reason
a scope and its token
waiter: true
parent: both
wait: Async\AwaitCancelledException: The wait was cancelled by its token <- RuntimeException: of the token
waiter: true
parent: both
wait: Async\AwaitCancelledException: The wait was cancelled by its token <- RuntimeException: of the token
a group as the token: Async\AwaitCancelledException: The wait was cancelled by its token <- RuntimeException: of a group
a waiter that is cancelled
waits: Async\CancellationException: cancelled at scope-4-failures-together.php:69
then: null
at the parent: RuntimeException: failure
waits: RuntimeException: failure
then: Async\CancellationException: cancelled at scope-4-failures-together.php:71
at the parent: nothing
