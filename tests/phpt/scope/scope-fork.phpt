--TEST--
IO-5 a fork in a scope: its coroutine lives on alone, the scope, those above and groups still work
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{BoundedScope, CoroutineGroup, Lifetime, Scope};
use function Async\{await, currentScope, delay, getCoroutines, spawn, suspend, timeout};

/** What $case prints in a forked child. */
function in_child(callable $case): string
{
    [$read, $write] = T\pair();
    $pid = pcntl_fork();
    if ($pid === 0) {
        ob_start();
        $case();
        fwrite($write, ob_get_clean());
        posix_kill(getmypid(), SIGKILL);
    }
    fclose($write);
    $said = stream_get_contents($read);
    pcntl_waitpid($pid, $status);
    return $said;
}

foreach (Lifetime::cases() as $lifetime) {
    echo "$lifetime->name\n";
    $parent = new Scope($lifetime);
    $scope = Scope::inherit($parent);
    $sibling = Scope::inherit($parent);
    $group = new CoroutineGroup;
    foreach ([$parent, $scope, $sibling, $group] as $in) {
        $in->spawn(fn() => T\turns(50));
    }
    $forks = fn() => in_child(function() use ($parent, $scope, $sibling, $group) {
        attempt('members', fn() => [count($scope->getCoroutines()), count($parent->getCoroutines()), count(getCoroutines())]);
        attempt('finished', fn() => [$scope->isFinished(), $parent->isFinished(), $sibling->isFinished()]);
        attempt('own', fn() => [currentScope() === $scope, $parent->awaitCompletion(timeout(60_000))]);
        attempt('sibling', fn() => $sibling->awaitCompletion(timeout(60_000)));
        attempt('group', fn() => await($group, timeout(60_000)));
        attempt('spawn', fn() => await(spawn(function() { T\turns(5); return 'result'; })));
        $sibling->spawn(function() { T\turns(5); fails('in the child'); });
        attempt('failure', fn() => $sibling->awaitCompletion(timeout(60_000)));
        $new = Scope::inherit();
        $new->spawn(fn() => T\turns(5));
        attempt('new', fn() => $new->awaitCompletion(timeout(60_000)));
        $bounded = new BoundedScope;
        attempt('bound', fn() => await($bounded->withTimeout(5)->spawn(fn() => delay(600_000))));
        $parent->cancel();
        attempt('cancelled', fn() => delay(600_000));
    });
    echo await($scope->spawn($forks));
    attempt('in the parent', fn() => [$parent->awaitCompletion(timeout(60_000)), await($group), $parent->isCancelled()]);
}
// what was bound before the fork
$scope = new BoundedScope;
$scope->boundedBy(timeout(60));
$other = new Scope;
echo await($other->spawn(fn() => in_child(function() use ($scope) {
    $member = $scope->spawn(fn() => delay(600_000));
    attempt('bound before', fn() => await($member));
})));
?>
--EXPECT--
Scope
members: [1,0,1]
finished: [false,false,true]
own: Async\AsyncException: Awaiting a scope from within itself or its child scope would cause a deadlock. Scope created at scope-fork.php:25
sibling: null
group: []
spawn: "result"
failure: RuntimeException: in the child
new: null
bound: Async\CancellationException: cancelled because the time limit of its scope has passed <- Async\TimeoutException: The scope was given up after 5 ms
cancelled: Async\CancellationException: cancelled at scope-fork.php:46
in the parent: [null,[null],false]
TopDown
members: [1,0,1]
finished: [false,false,true]
own: Async\AsyncException: Awaiting a scope from within itself or its child scope would cause a deadlock. Scope created at scope-fork.php:25
sibling: null
group: []
spawn: "result"
failure: RuntimeException: in the child
new: null
bound: Async\CancellationException: cancelled because the time limit of its scope has passed <- Async\TimeoutException: The scope was given up after 5 ms
cancelled: Async\CancellationException: cancelled at scope-fork.php:46
in the parent: [null,[null],false]
BottomUp
members: [1,0,1]
finished: [false,false,true]
own: Async\AsyncException: Awaiting a scope from within itself or its child scope would cause a deadlock. Scope created at scope-fork.php:25
sibling: null
group: []
spawn: "result"
failure: RuntimeException: in the child
new: null
bound: Async\CancellationException: cancelled because the time limit of its scope has passed <- Async\TimeoutException: The scope was given up after 5 ms
cancelled: Async\CancellationException: cancelled at scope-fork.php:46
in the parent: [null,[null],false]
bound before: Async\CancellationException: cancelled because what bounds its scope has completed <- Async\TimeoutException: The scope was given up after 60 ms
