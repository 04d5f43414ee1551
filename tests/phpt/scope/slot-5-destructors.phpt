--TEST--
SLOT-5 destructors of what scopes, coroutines and exceptions held last can wait and throw
--INI--
zend.exception_ignore_args=0
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{CancellationException, Scope};
use function Async\{await, delay, suspend, timeout};

final class Slow
{
    public function __construct(public string $name, public ?Scope $other = null, public bool $throws = false) {}

    public function __destruct()
    {
        try {
            T\turns(2);
            $this->other?->awaitCompletion(timeout(60_000));
            echo "$this->name is gone\n";
        } catch (Throwable $e) {
            echo "$this->name: ", said($e), "\n";
        }
        if ($this->throws) {
            throw new LogicException("destructor of $this->name");
        }
    }
}
final class Reason extends CancellationException
{
    public ?Slow $value = null;
}
function failing(Slow $argument): never
{
    throw new RuntimeException('failure');
}

$other = new Scope;
$other->spawn(fn() => T\turns(10));
$scope = new Scope;
$scope->set('key', new Slow('a value', $other));
$scope->spawn(fn() => 1);
$scope->awaitCompletion(timeout(60_000));
T\turns(40);

$scope = new Scope;
$scope->set('key', new Slow('a value that awaits its own scope', $scope));
$scope->spawn(fn() => 1);
$scope->awaitCompletion(timeout(60_000));
T\turns(40);

$other->spawn(fn() => T\turns(10));
$scope = new Scope;
$scope->spawn(fn() => new Slow('a result', $other));
$scope->awaitCompletion(timeout(60_000));
$coroutine = $scope->spawn(fn() => new Slow('a result that is held'));
$scope->awaitCompletion(timeout(60_000));
unset($coroutine);

$scope->setExceptionHandler(fn(Throwable $e) => print("handler\n"));
$scope->spawn(fn() => failing(new Slow('an argument', $other)));
$scope->awaitCompletion(timeout(60_000));
T\turns(40);

$parent = new Scope;
$parent->setChildScopeExceptionHandler(fn(Throwable $e) => print('parent: ' . said($e) . "\n"));
$child = Scope::inherit($parent);
$child->setExceptionHandler(fn(Throwable $e) => throw new DomainException('handler'));
$child->spawn(fn() => failing(new Slow('an argument of a failure that no handler took')));
$parent->awaitCompletion(timeout(60_000));
T\turns(40);

$child->setExceptionHandler(fn(Throwable $e) => print("handler\n"));
$child->spawn(fn() => failing(new Slow('an argument that throws', null, true)));
$parent->awaitCompletion(timeout(60_000));
T\turns(40);

$scope = new Scope;
$scope->spawn(fn() => failing(new Slow('an argument for a waiter')));
attempt('waiter', fn() => $scope->awaitCompletion(timeout(60_000)));
unset($scope);
T\turns(40);

$scope = new Scope;
$scope->spawn(fn() => delay(600_000));
suspend();
suspend();
$reason = new Reason('reason');
$reason->value = new Slow('a value of a reason');
$scope->cancel($reason);
unset($reason);
attempt('wind-down', fn() => $scope->awaitAfterCancellation());
unset($scope);
T\turns(40);

$scope = new Scope;
$slow = new Slow('what a handler refers to');
$scope->setExceptionHandler(function(Throwable $e) use ($slow) {});
unset($slow, $scope);
T\turns(40);
echo "end\n";
?>
--EXPECT--
a value is gone
a value that awaits its own scope: Async\AsyncException: Awaiting a scope from within itself or its child scope would cause a deadlock. Scope created at slot-5-destructors.php:41
a result is gone
a result that is held is gone
handler
an argument is gone
parent: DomainException: handler <- RuntimeException: failure
an argument of a failure that no handler took is gone
handler
an argument that throws is gone
parent: LogicException: destructor of an argument that throws
waiter: RuntimeException: failure
an argument for a waiter is gone
wind-down: null
a value of a reason is gone
what a handler refers to is gone
end
