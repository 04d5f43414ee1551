--TEST--
SCOPE-9 handlers with 0, 1, 2, 3 and variable parameters, internal functions, one that wants too much
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\Scope;
use function Async\{delay, timeout};

$names = fn(object ...$of) => implode(' ', array_map('get_class', $of)) . "\n";
$handlers = [
    'none' => function() { echo func_num_args(), "\n"; },
    'one' => fn($a) => print($names($a)),
    'a Throwable' => fn(Throwable $e) => print($names($e)),
    'one and by reference' => function(&$a) { echo get_class($a), "\n"; },
    'two' => fn($a, $b) => print($names($a, $b)),
    'one and an optional one' => fn($a, $b = null) => print($names($a, $b)),
    'three' => fn($a, $b, $c) => print($names($a, $b, $c)),
    'three and an optional one' => fn($a, $b, $c, $d = 'd') => print("$d " . $names($a, $b, $c)),
    'any number' => fn(...$all) => print($names(...$all)),
    'internal' => 'is_object',
];
class Handling
{
    public function __invoke(Throwable $e): void { echo "invoked\n"; }
    public static function fixed(Scope $scope, Async\Coroutine $coroutine, Throwable $e): void { echo "static\n"; }
}
$handlers += ['invokable' => new Handling, 'method' => 'Handling::fixed', 'array' => [new Handling, 'fixed']];
foreach ($handlers as $name => $handler) {
    echo "$name: ";
    $scope = new Scope;
    $scope->setExceptionHandler($handler);
    $scope->spawn('fails');
    @$scope->awaitCompletion(timeout(60_000));
    echo $scope->isCancelled() ? "cancelled\n" : '';
}
echo "\n";
// one that cannot be called so fails as handlers fail: at the parent
foreach (['four' => fn($a, $b, $c, $d) => 1, 'internal' => 'usleep'] as $name => $handler) {
    $parent = new Scope;
    $parent->setChildScopeExceptionHandler(fn(Throwable $e) => print(get_class($e) . "\n"));
    $scope = Scope::inherit($parent);
    $scope->setExceptionHandler($handler);
    $scope->spawn('fails');
    $parent->awaitCompletion(timeout(60_000));
}
?>
--EXPECTF--
none: 3
one: RuntimeException
a Throwable: RuntimeException
one and by reference: 
Warning: {closure%S}(): Argument #1 ($a) must be passed by reference, value given in %sscope-9-handlers-arguments.php on line 11
RuntimeException
two: Async\Scope Async\Coroutine
one and an optional one: Async\Scope Async\Coroutine
three: Async\Scope Async\Coroutine RuntimeException
three and an optional one: d Async\Scope Async\Coroutine RuntimeException
any number: Async\Scope Async\Coroutine RuntimeException
internal: invokable: invoked
method: static
array: static

ArgumentCountError
TypeError
