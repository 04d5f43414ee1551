--TEST--
SCOPE-1 a scope whose constructor has not run: each method says what is missing
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{BoundedScope, CoroutineGroup, Scope};
use function Async\{await, timeout};

class Careless extends Scope
{
    public array $log = [];
    public function __construct() {}
}

$arguments = [
    'spawn' => ['strlen', 'x'], 'awaitCompletion' => [timeout(1)], 'disposeAfterTimeout' => [5],
    'setExceptionHandler' => ['strlen'], 'setChildScopeExceptionHandler' => ['strlen'],
    'onFinally' => [fn() => 1], 'onExit' => [fn() => 1], 'finally' => [fn() => 1], 'find' => ['k'], 'get' => ['k'], 'has' => ['k'], 'findLocal' => ['k'],
    'getLocal' => ['k'], 'hasLocal' => ['k'], 'set' => ['k', 1], 'unset' => ['k'],
    'withTimeout' => [5], 'boundedBy' => [timeout(1)], 'spawnAndBound' => ['strlen', 'x'],
];
$raw = (new ReflectionClass(BoundedScope::class))->newInstanceWithoutConstructor();
$said = [];
foreach ([new Careless, $raw] as $scope) {
    foreach ((new ReflectionObject($scope))->getMethods() as $method) {
        if (!$method->isStatic() && $method->name !== '__construct') {
            try {
                $method->invoke($scope, ...$arguments[$method->name] ?? []);
                echo "$method->name is accepted\n";
            } catch (Async\AsyncException $e) {
                $said[$e->getMessage()] = ($said[$e->getMessage()] ?? 0) + 1;
            }
        }
    }
}
foreach ($said as $message => $count) {
    echo "$message: ", $count > 50 ? 'all' : $count, "\n";
}
attempt('await', fn() => await(new Careless));
attempt('inherit', fn() => Scope::inherit(new Careless));
attempt('group', fn() => new CoroutineGroup(new Careless));
attempt('token of await', fn() => await(timeout(5), $raw));
attempt('token of awaitCompletion', fn() => (new Scope)->awaitCompletion($raw));
attempt('token of awaitAfterCancellation', function() use ($raw) {
    $scope = new Scope;
    $scope->cancel();
    $scope->awaitAfterCancellation(null, $raw);
});
attempt('bound', fn() => (new BoundedScope)->boundedBy($raw));
$raw->__construct();
attempt('constructed late', fn() => $raw->isFinished());
foreach ([new Scope, new BoundedScope, Scope::inherit(), Async\globalScope(), $raw] as $scope) {
    attempt('a second time', fn() => $scope->__construct());
}
?>
--EXPECT--
This scope was not constructed: call parent::__construct() in its constructor: all
await: Async\AsyncException: This object has never been spawned or constructed, and would never complete
inherit: Async\AsyncException: This scope was not constructed: call parent::__construct() in its constructor
group: Async\AsyncException: This scope was not constructed: call parent::__construct() in its constructor
token of await: Async\AsyncException: This object has never been spawned or constructed, and would never complete
token of awaitCompletion: Async\AsyncException: This object has never been spawned or constructed, and would never complete
token of awaitAfterCancellation: Async\AsyncException: This object has never been spawned or constructed, and would never complete
bound: Async\AsyncException: This object has never been spawned or constructed, and would never complete
constructed late: true
a second time: Async\AsyncException: The scope has been constructed already
a second time: Async\AsyncException: The scope has been constructed already
a second time: Async\AsyncException: The scope has been constructed already
a second time: Async\AsyncException: The scope has been constructed already
a second time: Async\AsyncException: The scope has been constructed already
