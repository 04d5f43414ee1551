--TEST--
ERR-7 Failures of a scope that winds down: handlers, who waits, getErrors(), the warning, in every lifetime
--INI--
async.seed=0
--FILE--
<?php
use Async\{BoundedScope, Lifetime, Scope};
use function Async\{await, delay, spawn, suspend, timeout};

require __DIR__ . '/kit.inc';

set_error_handler(function(int $level, string $text) { echo '  warning: ', preg_replace('~ (at|in) /\S+?(?=,|\s|$)|, spawned at .*~', '', $text), "\n"; return true; });

/** Two that fail in their cleanup, after so many turns. */
function cleanups(Scope $scope): Scope
{
    foreach ([1, 2] as $i) {
        $all[] = $scope->spawn(function() use ($i) {
            try {
                delay(600_000);
            } finally {
                for ($turns = 5 * $i; $turns--;) suspend();
                throw new RuntimeException("cleanup $i");
            }
        });
    }
    T\begun(...$all);
    return $scope;
}

function errors(Scope $scope): string
{
    return json_encode(array_map(fn($e) => $e->getMessage(), $scope->getErrors()));
}

function finished(Scope $scope): void
{
    while (!$scope->isFinished()) suspend();
    suspend();
    suspend();
}

foreach (Lifetime::cases() as $lifetime) {
    echo $lifetime->name, "\n";
    $scope = cleanups(new Scope($lifetime));
    $scope->cancel();
    finished($scope);
    echo '  nobody: ', errors($scope), "\n";

    $scope = cleanups(new Scope($lifetime));
    $scope->cancel();
    while (!$scope->isFinished()) { suspend(); }
    echo '  asked in time: ', errors($scope), "\n";
    suspend();

    $scope = cleanups(new Scope($lifetime));
    $scope->setExceptionHandler(fn(Throwable $e) => print("  handler: {$e->getMessage()}\n"));
    $scope->cancel();
    $scope->awaitAfterCancellation();
    echo '  handled: ', errors($scope), "\n";

    $scope = cleanups(new Scope($lifetime));
    $scope->cancel();
    $scope->awaitAfterCancellation(function(Throwable $e, Scope $of) use ($scope) {
        for ($i = 0; $i < 20; $i++) suspend(); // the other one fails meanwhile
        echo '  given: ', $e->getMessage(), ' ', json_encode($of === $scope), "\n";
    });
    echo '  given: ', errors($scope), "\n";

    $scope = cleanups(new Scope($lifetime));
    $scope->cancel();
    try { $scope->awaitAfterCancellation(fn($e) => throw new LogicException("for {$e->getMessage()}")); } catch (LogicException $e) { echo '  threw: ', $e->getMessage(), "\n"; }
    finished($scope);

    $scope = cleanups(new Scope($lifetime));
    $scope->cancel();
    $waits = spawn(fn() => $scope->awaitAfterCancellation());
    $too = spawn(fn() => $scope->awaitAfterCancellation());
    echo '  both: ', T\failure($waits)->getMessage(), ' ', json_encode(T\failure($waits) === T\failure($too)), ' ', json_encode($scope->isFinished()), "\n";
    $scope->awaitAfterCancellation();
    try { $scope->awaitCompletion(timeout(60_000)); } catch (Async\CancellationException $e) { echo "  later: cancelled\n"; }

    $scope = cleanups(new Scope($lifetime));
    $scope->cancel();
    while (!$scope->isFinished()) suspend();
    try { $scope->awaitCompletion(timeout(60_000)); } catch (RuntimeException $e) { echo '  nobody before: ', $e->getMessage(), "\n"; }

    // Who waits is cancelled itself, and takes nothing.
    $scope = cleanups(new Scope($lifetime));
    $scope->cancel();
    $waits = spawn(fn() => $scope->awaitAfterCancellation());
    T\begun($waits);
    $waits->cancel();
    T\ended($waits);
    finished($scope);
}

echo "disposed of\n";
$scope = new Scope;
$zombie = $scope->spawn(function() { T\turns(20); throw new RuntimeException('of a zombie'); });
T\begun($zombie);
$scope->disposeSafely();
T\ended($zombie);
finished($scope);
echo '  ', errors($scope), "\n";

echo "bounded\n";
$scope = cleanups((new BoundedScope)->withTimeout(5));
try { await($scope); } catch (RuntimeException $e) { echo '  await: ', $e->getMessage(), "\n"; }
finished($scope);
try { await($scope); } catch (RuntimeException $e) { echo '  again: ', $e->getMessage(), ' ', errors($scope), "\n"; }

echo "below another\n";
$parent = new Scope;
$parent->setChildScopeExceptionHandler(fn(Throwable $e) => print("  parent's: {$e->getMessage()}\n"));
$child = cleanups(Scope::inherit($parent));
$child->cancel();
finished($child);
echo '  the parent is ', $parent->isCancelled() ? 'cancelled' : 'open', "\n";
$child = cleanups(Scope::inherit($parent));
$parent->cancel();
finished($parent);

echo "a group\n";
$scope = cleanups(new Scope);
$group = new Async\CoroutineGroup;
array_map($group->add(...), $scope->getCoroutines());
$scope->cancel();
echo '  ', T\failure(spawn(fn() => await($group)))->getMessage(), ' ', errors($scope), "\n";
echo "end\n";
?>
--EXPECT--
Scope
  warning: Unhandled exception in a scope that has failed already: RuntimeException: cleanup 1, coroutine #2
  warning: Unhandled exception in a scope that has failed already: RuntimeException: cleanup 2, coroutine #3
  nobody: ["cleanup 1","cleanup 2"]
  asked in time: ["cleanup 1","cleanup 2"]
  handler: cleanup 1
  handler: cleanup 2
  handled: []
  given: cleanup 1 true
  given: cleanup 2 true
  given: ["cleanup 1","cleanup 2"]
  threw: for cleanup 1
  warning: Unhandled exception in a scope that has failed already: RuntimeException: cleanup 2, coroutine #17
  both: cleanup 1 true true
  later: cancelled
  nobody before: cleanup 1
  warning: Unhandled exception in a scope that has failed already: RuntimeException: cleanup 1, coroutine #27
  warning: Unhandled exception in a scope that has failed already: RuntimeException: cleanup 2, coroutine #28
TopDown
  warning: Unhandled exception in a scope that has failed already: RuntimeException: cleanup 1, coroutine #33
  warning: Unhandled exception in a scope that has failed already: RuntimeException: cleanup 2, coroutine #34
  nobody: ["cleanup 1","cleanup 2"]
  asked in time: ["cleanup 1","cleanup 2"]
  handler: cleanup 1
  handler: cleanup 2
  handled: []
  given: cleanup 1 true
  given: cleanup 2 true
  given: ["cleanup 1","cleanup 2"]
  threw: for cleanup 1
  warning: Unhandled exception in a scope that has failed already: RuntimeException: cleanup 2, coroutine #48
  both: cleanup 1 true true
  later: cancelled
  nobody before: cleanup 1
  warning: Unhandled exception in a scope that has failed already: RuntimeException: cleanup 1, coroutine #58
  warning: Unhandled exception in a scope that has failed already: RuntimeException: cleanup 2, coroutine #59
BottomUp
  warning: Unhandled exception in a scope that has failed already: RuntimeException: cleanup 1, coroutine #64
  warning: Unhandled exception in a scope that has failed already: RuntimeException: cleanup 2, coroutine #65
  nobody: ["cleanup 1","cleanup 2"]
  asked in time: ["cleanup 1","cleanup 2"]
  handler: cleanup 1
  handler: cleanup 2
  handled: []
  given: cleanup 1 true
  given: cleanup 2 true
  given: ["cleanup 1","cleanup 2"]
  threw: for cleanup 1
  warning: Unhandled exception in a scope that has failed already: RuntimeException: cleanup 2, coroutine #79
  both: cleanup 1 true true
  later: cancelled
  nobody before: cleanup 1
  warning: Unhandled exception in a scope that has failed already: RuntimeException: cleanup 1, coroutine #89
  warning: Unhandled exception in a scope that has failed already: RuntimeException: cleanup 2, coroutine #90
disposed of
  warning: Coroutine is zombie in Scope disposed
  warning: Unhandled exception in a scope that has failed already: RuntimeException: of a zombie, coroutine #95
  ["of a zombie"]
bounded
  await: cleanup 1
  warning: Unhandled exception in a scope that has failed already: RuntimeException: cleanup 2, coroutine #99
  again: cleanup 1 ["cleanup 1","cleanup 2"]
below another
  warning: Unhandled exception in a scope that has failed already: RuntimeException: cleanup 1, coroutine #102
  warning: Unhandled exception in a scope that has failed already: RuntimeException: cleanup 2, coroutine #103
  the parent is open
  parent's: cleanup 1
  parent's: cleanup 2
a group
  cleanup 1 []
end
