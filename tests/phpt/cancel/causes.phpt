--TEST--
Each cancellation that the runtime makes names its cause; a failure is named with its place, and is the previous exception
--INI--
async.seed=0
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{BoundedScope, CancellationException, CoroutineGroup, Future, FutureState, Lifetime, Scope};
use function Async\{await, awaitAny, delay, gracefulShutdown, iterate, protect, spawn, suspend, timeout};

$told = [];
// A coroutine that waits until it is cancelled, and tells why.
function waits(string $name): Closure
{
    return function() use ($name) {
        try {
            delay(600_000);
        } catch (CancellationException $e) {
            $previous = $e->getPrevious() ? ' <- ' . get_class($e->getPrevious()) . ': ' . $e->getPrevious()->getMessage() : '';
            $GLOBALS['told'][] = "$name: " . preg_replace(['~/\S+/~', '~#\d+~'], ['', '#N'], $e->getMessage()) . "$previous\n";
        }
    };
}
function fails(): never
{
    suspend();
    throw new LogicException("lost\nand more");
}
function told(int $count = 1): void
{
    T\until(fn() => count($GLOBALS['told']) === $count);
    sort($GLOBALS['told']);
    echo implode($GLOBALS['told']);
    $GLOBALS['told'] = [];
}

$scope = new Scope;
$scope->spawn(waits('scope'));
spawn(function() use ($scope) { try { $scope->awaitCompletion(timeout(600_000)); } catch (LogicException) {} });
suspend();
$below = Scope::inherit($scope);
$below->spawn(waits('scope below'));
$scope->spawn(fails(...));
told(2);

$scope = new Scope(Lifetime::TopDown);
$parent = $scope->spawn(function() { spawn(waits('orphan')); suspend(); suspend(); });
told();
$scope = new Scope(Lifetime::TopDown);
$parent = $scope->spawn(function() { spawn(waits('orphan of one that fails')); suspend(); fails(); });
try { await($parent); } catch (LogicException) {}
told();
$scope = new Scope(Lifetime::TopDown);
$parent = $scope->spawn(function() { spawn(waits('orphan of one that is cancelled')); delay(600_000); });
suspend();
$parent->cancel();
told();
$scope = new Scope(Lifetime::TopDown);
$parent = $scope->spawn(function() { spawn(waits('orphan of one that is cancelled after a failure')); delay(600_000); });
suspend();
$parent->cancel(new CancellationException('because', 0, new DomainException('behind it')));
told();
$scope->spawn(waits('released'));
suspend();
unset($scope);
told();

$scope = new Scope;
$scope->spawn(waits('disposed'));
suspend();
@$scope->dispose();
told();
$scope = new Scope;
$scope->spawn(waits('disposed, with a time'));
suspend();
@$scope->disposeAfterTimeout(1);
told();

foreach ([
    'time' => fn($scope) => $scope->withTimeout(1),
    'timeout' => fn($scope) => $scope->boundedBy(timeout(1)),
    'coroutine' => fn($scope) => $scope->boundedBy($GLOBALS['held'] = spawn(suspend(...))),
    'coroutine that fails' => fn($scope) => $scope->boundedBy($GLOBALS['held'] = spawn(function() { suspend(); throw new DomainException('of the bound'); })),
    'failed future' => fn($scope) => $scope->boundedBy(Future::failed(new DomainException('of the future'))->ignore()),
    'its own coroutine' => fn($scope) => $scope->spawnAndBound(suspend(...)),
] as $name => $bound) {
    $scope = new BoundedScope;
    $scope->spawn(waits("bound, $name"));
    suspend();
    $result = $bound($scope);
    told();
    isset($held) && T\failure($held);
    unset($held);
}

$group = new CoroutineGroup;
$group->spawn(waits('group'));
$group->spawn(fails(...));
try { await($group); } catch (LogicException) {}
told();
try { iterate([1, 2], fn($n) => $n === 1 ? waits('iterate')() : fails()); } catch (LogicException) {}
told();
$caller = spawn(fn() => iterate([1], waits('iterate that is cancelled')));
suspend(); suspend();
$caller->cancel();
told();

foreach ([
    'unhandled' => 'spawn(function() { suspend(); throw new LogicException("lost"); });',
    'asked for' => 'suspend(); gracefulShutdown();',
    'asked for, with an exception' => 'suspend(); gracefulShutdown(new LogicException("why"));',
] as $name => $code) {
    $ended = T\php("use function Async\\{delay, gracefulShutdown, spawn, suspend};
        spawn(function() { try { delay(600_000); } catch (Throwable \$e) { echo get_class(\$e), ': ', \$e->getMessage(), ' <- ', get_debug_type(\$e->getPrevious()), \"\\n\"; } });
        $code");
    echo "$name: ", preg_replace('~/\S+/[\w-]+:~', 'FILE:', strstr($ended->output, "\n", true)), "\n";
}
?>
--EXPECT--
scope below: cancelled because its scope has failed with LogicException: lost…, thrown at causes.php:22 in coroutine #N, spawned at causes.php:38 <- LogicException: lost
and more
scope: cancelled because its scope has failed with LogicException: lost…, thrown at causes.php:22 in coroutine #N, spawned at causes.php:38 <- LogicException: lost
and more
orphan: cancelled because the coroutine that spawned it has completed: coroutine #N, spawned at causes.php:42
orphan of one that fails: cancelled because the coroutine that spawned it has failed with LogicException: lost…, thrown at causes.php:22 in coroutine #N, spawned at causes.php:45 <- LogicException: lost
and more
orphan of one that is cancelled: cancelled because the coroutine that spawned it was cancelled: coroutine #N, spawned at causes.php:49
orphan of one that is cancelled after a failure: cancelled because the coroutine that spawned it was cancelled because of DomainException: behind it, thrown at causes.php:56 <- DomainException: behind it
released: cancelled because the object of its Scope was released at causes.php:60
disposed: cancelled because its scope was disposed of at causes.php:66
disposed, with a time: cancelled because its scope was disposed of at causes.php:71, and the time it was given has passed
bound, time: cancelled because the time limit of its scope has passed <- Async\TimeoutException: The scope was given up after 1 ms
bound, timeout: cancelled because what bounds its scope has completed <- Async\TimeoutException: The scope was given up after 1 ms
bound, coroutine: cancelled because what bounds its scope has completed: coroutine #N, spawned at causes.php:77
bound, coroutine that fails: cancelled because what bounds its scope has failed with DomainException: of the bound, thrown at causes.php:78 in coroutine #N, spawned at causes.php:78 <- DomainException: of the bound
bound, failed future: cancelled because what bounds its scope has failed with DomainException: of the future, thrown at causes.php:79 <- DomainException: of the future
bound, its own coroutine: cancelled because what bounds its scope has completed: coroutine #N, spawned at causes.php:80
group: cancelled because another coroutine of its group has failed with LogicException: lost…, thrown at causes.php:22 in coroutine #N, spawned at causes.php:93 <- LogicException: lost
and more
iterate: cancelled because iterate() has failed with LogicException: lost…, thrown at causes.php:22 <- LogicException: lost
and more
iterate that is cancelled: cancelled because iterate() was cancelled
unhandled: Async\CancellationException: cancelled by graceful shutdown because of an unhandled LogicException: lost, thrown at FILE:4 in coroutine #3, spawned at FILE:4 <- LogicException
asked for: Async\CancellationException: cancelled by graceful shutdown, asked for at FILE:4 <- null
asked for, with an exception: Async\CancellationException: cancelled by graceful shutdown, asked for at FILE:4 because of LogicException: why, thrown at FILE:4 <- LogicException
