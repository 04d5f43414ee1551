--TEST--
SCOPE-3 to SCOPE-12 wrong arguments are refused as PHP refuses them, and nothing is changed
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{BoundedScope, CancellationException, CoroutineGroup, Lifetime, Scope};
use function Async\{await, spawn, timeout};

$scope = new Scope;
$bounded = new BoundedScope;
foreach (['yes', 1] as $value) {
    attempt('new', fn() => new Scope($value));
}
attempt('inherit', fn() => Scope::inherit(new CoroutineGroup));
attempt('spawn', fn() => $scope->spawn());
foreach (['spawn', 'setExceptionHandler', 'setChildScopeExceptionHandler'] as $method) {
    attempt($method, fn() => $scope->$method('no such'));
}
foreach (['onFinally', 'onExit'] as $method) {
    attempt($method, fn() => $scope->$method('strlen'));
}
attempt('awaitCompletion', fn() => $scope->awaitCompletion());
attempt('awaitCompletion', fn() => $scope->awaitCompletion(new Scope));
attempt('awaitAfterCancellation', fn() => $scope->awaitAfterCancellation('no such'));
attempt('awaitAfterCancellation', fn() => $scope->awaitAfterCancellation(null, new Scope));
attempt('awaitAfterCancellation', fn() => $scope->awaitAfterCancellation());
attempt('cancel', fn() => $scope->cancel(new Exception));
foreach ([0, -1, 600_000, PHP_INT_MAX, 'soon'] as $ms) {
    attempt('disposeAfterTimeout', fn() => $scope->disposeAfterTimeout($ms));
}
foreach ([-1, PHP_INT_MIN, 'soon'] as $ms) {
    attempt('withTimeout', fn() => $bounded->withTimeout($ms));
}
foreach ([5, null, 'x', [], fn() => 1, new Scope] as $constraint) {
    attempt('boundedBy', fn() => $bounded->boundedBy($constraint));
}
attempt('boundedBy itself', fn() => $bounded->boundedBy($bounded));
attempt('spawnAndBound', fn() => $bounded->spawnAndBound('no such'));
attempt('nothing is bound', fn() => $bounded->getBoundsInfo());
attempt('withTimeout twice', fn() => $bounded->withTimeout(PHP_INT_MAX)->withTimeout(5));
attempt('await', fn() => await(new Scope));
attempt('await', fn() => await(fn() => 1));
attempt('a token', fn() => await(timeout(1), new Scope));
attempt('add', fn() => (new CoroutineGroup)->add($scope));
attempt('in a group', fn() => (new CoroutineGroup)->spawn('no such'));
attempt('open still', fn() => [$scope->isClosed(), $scope->isDisposed(), $bounded->isClosed(), $scope->getCoroutines()]);
?>
--EXPECT--
new: TypeError: Async\Scope::__construct(): Argument #1 ($lifetime) must be of type ?Async\Lifetime, string given
new: TypeError: Async\Scope::__construct(): Argument #1 ($lifetime) must be of type ?Async\Lifetime, int given
inherit: TypeError: Async\Scope::inherit(): Argument #1 ($parentScope) must be of type ?Async\Scope, Async\CoroutineGroup given
spawn: ArgumentCountError: Async\Scope::spawn() expects at least 1 argument, 0 given
spawn: TypeError: Async\Scope::spawn(): Argument #1 ($task) must be a valid callback, function "no such" not found or invalid function name
setExceptionHandler: TypeError: Async\Scope::setExceptionHandler(): Argument #1 ($handler) must be a valid callback, function "no such" not found or invalid function name
setChildScopeExceptionHandler: TypeError: Async\Scope::setChildScopeExceptionHandler(): Argument #1 ($handler) must be a valid callback, function "no such" not found or invalid function name
onFinally: TypeError: Async\Scope::onFinally(): Argument #1 ($callback) must be of type Closure, string given
onExit: TypeError: Async\Scope::onExit(): Argument #1 ($callback) must be of type Closure, string given
awaitCompletion: ArgumentCountError: Async\Scope::awaitCompletion() expects exactly 1 argument, 0 given
awaitCompletion: TypeError: Async\Scope::awaitCompletion(): Argument #1 ($cancellation) must be of type Async\Awaitable, Async\Scope given
awaitAfterCancellation: TypeError: Async\Scope::awaitAfterCancellation(): Argument #1 ($errorHandler) must be a valid callback or null, function "no such" not found or invalid function name
awaitAfterCancellation: TypeError: Async\Scope::awaitAfterCancellation(): Argument #2 ($cancellation) must be of type ?Async\Awaitable, Async\Scope given
awaitAfterCancellation: Async\AsyncException: The scope has not been cancelled: call cancel() before, or use awaitCompletion()
cancel: TypeError: Async\Scope::cancel(): Argument #1 ($cancellation) must be of type ?Async\CancellationException, Exception given
disposeAfterTimeout: ValueError: Async\Scope::disposeAfterTimeout(): Argument #1 ($ms) must be between 1 and 599999
disposeAfterTimeout: ValueError: Async\Scope::disposeAfterTimeout(): Argument #1 ($ms) must be between 1 and 599999
disposeAfterTimeout: ValueError: Async\Scope::disposeAfterTimeout(): Argument #1 ($ms) must be between 1 and 599999
disposeAfterTimeout: ValueError: Async\Scope::disposeAfterTimeout(): Argument #1 ($ms) must be between 1 and 599999
disposeAfterTimeout: TypeError: Async\Scope::disposeAfterTimeout(): Argument #1 ($ms) must be of type int, string given
withTimeout: ValueError: Async\BoundedScope::withTimeout(): Argument #1 ($milliseconds) must be greater than or equal to 0
withTimeout: ValueError: Async\BoundedScope::withTimeout(): Argument #1 ($milliseconds) must be greater than or equal to 0
withTimeout: TypeError: Async\BoundedScope::withTimeout(): Argument #1 ($milliseconds) must be of type int, string given
boundedBy: TypeError: Async\BoundedScope::boundedBy(): Argument #1 ($constraint) must be of type Async\Awaitable, int given
boundedBy: TypeError: Async\BoundedScope::boundedBy(): Argument #1 ($constraint) must be of type Async\Awaitable, null given
boundedBy: TypeError: Async\BoundedScope::boundedBy(): Argument #1 ($constraint) must be of type Async\Awaitable, string given
boundedBy: TypeError: Async\BoundedScope::boundedBy(): Argument #1 ($constraint) must be of type Async\Awaitable, array given
boundedBy: TypeError: Async\BoundedScope::boundedBy(): Argument #1 ($constraint) must be of type Async\Awaitable, Closure given
boundedBy: TypeError: Async\BoundedScope::boundedBy(): Argument #1 ($constraint) must be of type Async\Awaitable, Async\Scope given
boundedBy itself: Async\AsyncException: A scope cannot be bounded by itself
spawnAndBound: TypeError: Async\BoundedScope::spawnAndBound(): Argument #1 ($coroutine) must be a valid callback, function "no such" not found or invalid function name
nothing is bound: {"timeout":null,"constraint":null,"reached":null}
withTimeout twice: Async\AsyncException: The scope has a timeout already; it can be set once
await: Async\AsyncException: A Scope of Lifetime::Scope cannot be awaited: use its awaitCompletion(), with a limit, or a BoundedScope
await: TypeError: Async\await(): Argument #1 ($awaitable) must be of type Async\Awaitable|Async\Scope, Closure given
a token: TypeError: Async\await(): Argument #2 ($cancellation) must be of type ?Async\Awaitable, Async\Scope given
add: TypeError: Async\CoroutineGroup::add(): Argument #1 ($coroutine) must be of type Async\Coroutine, Async\Scope given
in a group: TypeError: Async\CoroutineGroup::spawn(): Argument #1 ($task) must be a valid callback, function "no such" not found or invalid function name
open still: [false,false,false,[]]
