--TEST--
BottomUp and TopDown: failing and cancelled parents, three levels, those that swallow, other scopes
--INI--
async.seed=0
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{CancellationException, Lifetime, Scope};
use function Async\{await, currentCoroutine, delay, spawn, suspend, timeout};

echo "BottomUp\n";
$scope = new Scope(Lifetime::BottomUp);
$scope->setExceptionHandler(fn(Throwable $e) => print("handler: {$e->getMessage()}\n"));
$parent = $scope->spawn(function() { spawn('works', 'child'); fails('parent'); });
T\turns(5);
attempt('complete', fn() => $parent->isCompleted());
attempt('parent', fn() => await($parent));
$scope = new Scope(Lifetime::BottomUp);
$parent = $scope->spawn(function() { spawn('works', 'child', 60_000); suspend(); suspend(); fails('parent'); });
attempt('scope', fn() => await($scope));
attempt('parent', fn() => await($parent));
$scope = new Scope(Lifetime::BottomUp);
$parent = $scope->spawn(function() { spawn('works', 'child', 60_000); return 'result'; });
T\turns(5);
$parent->cancel(new CancellationException('after its body'));
attempt('parent', fn() => [await($parent), $parent->isCancelled()]);
$parent = $scope->spawn(fn() => spawn(fn() => spawn(fn() => spawn('works', 'leaf', 60_000))) && true);
T\turns(5);
$parent->cancel();
attempt('three levels', fn() => [await($parent), $scope->getCoroutines()]);
$scope->setExceptionHandler(fn(Throwable $e) => print("handler: {$e->getMessage()}\n"));
$parent = $scope->spawn(function() { spawn('fails', 'child'); return 'result'; });
attempt('failing child', fn() => await($parent));

echo "TopDown\n";
$other = new Scope;
$scope = new Scope(Lifetime::TopDown);
$parent = $scope->spawn(function() use ($scope, $other) {
    spawn(function() {
        spawn(fn() => works('grandchild', 600_000));
        works('child', 600_000);
    });
    $other->spawn('works', 'another scope', 60);
    $scope->spawn('works', 'a member that is no child', 30);
    T\turns(5);
});
attempt('parent', fn() => await($parent));
attempt('scope', fn() => await($scope));
$other->awaitCompletion(timeout(60_000));
$parent = $scope->spawn(function() {
    spawn(function() {
        try {
            delay(600_000);
        } catch (CancellationException) {
            T\turns(20);
            echo "swallowed, and went on\n";
        }
    });
    T\turns(5);
});
attempt('scope', fn() => await($scope));
$parent = $scope->spawn(function() {
    try {
        delay(600_000);
    } finally {
        spawn('works', 'spawned in finally', 60_000);
        T\turns(5);
    }
});
T\turns(5);
$parent->cancel();
attempt('scope', fn() => await($scope));
$parent = $scope->spawn(function() { spawn('works', 'child', 60_000); T\turns(5); fails('parent'); });
attempt('scope', fn() => await($scope));

echo "main\n";
foreach (['bottom-up', 'top-down'] as $lifetime) {
    echo T\php(<<<'PHP'
        use function Async\{currentCoroutine, delay, spawn};
        $main = currentCoroutine();
        $main->onFinally(function() { echo "main is complete\n"; });
        spawn(function() use ($main) { delay(30); echo "child: ", json_encode($main->isCompleted()), "\n"; });
        echo "main ends\n";
        PHP, "-d async.lifetime=$lifetime"), "\n";
}
?>
--EXPECT--
BottomUp
handler: parent
complete: false
child has worked
parent: RuntimeException: parent
child is cancelled
scope: RuntimeException: parent
parent: RuntimeException: parent
child is cancelled
parent: ["result",false]
leaf is cancelled
three levels: [true,[]]
handler: child
failing child: "result"
TopDown
child is cancelled
parent: null
grandchild is cancelled
a member that is no child has worked
scope: null
another scope has worked
swallowed, and went on
scope: null
spawned in finally is cancelled
scope: null
child is cancelled
scope: RuntimeException: parent
main
[0] main ends
child: false
main is complete

[0] main ends
main is complete
child: true
