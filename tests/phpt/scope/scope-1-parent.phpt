--TEST--
SCOPE-1 getParentScope(): the scope above, also when its object has died; none above an independent scope
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{BoundedScope, Lifetime, Scope};
use function Async\{await, currentScope, delay, globalScope};

$top = new Scope();
$below = Scope::inherit($top);
var_dump($below->getParentScope() === $top, $top->getParentScope(), globalScope()->getParentScope());
var_dump(Scope::inherit()->getParentScope() === globalScope());
var_dump(await($top->spawn(fn() => Scope::inherit()->getParentScope() === currentScope())));

$below->cancel();
$top->cancel();
var_dump($below->getParentScope() === $top);

// The object of a scope that is needed by those below it comes back, and its death ends nothing.
$bounded = new BoundedScope(Lifetime::BottomUp);
$below = Scope::inherit($bounded);
$job = $below->spawn(fn() => delay(1));
unset($bounded);
$again = $below->getParentScope();
var_dump(get_class($again), $again === $below->getParentScope(), $again->getChildScopes() === [$below], $again->isClosed());
unset($again);
var_dump($job->isCancelled(), await($job));

attempt('an argument', fn() => $below->getParentScope(1));
class Unmade extends Scope { public function __construct() {} }
attempt('not constructed', fn() => (new Unmade)->getParentScope());
?>
--EXPECT--
bool(true)
NULL
NULL
bool(true)
bool(true)
bool(true)
string(18) "Async\BoundedScope"
bool(true)
bool(true)
bool(false)
bool(false)
NULL
an argument: ArgumentCountError: Async\Scope::getParentScope() expects exactly 0 arguments, 1 given
not constructed: Async\AsyncException: This scope was not constructed: call parent::__construct() in its constructor
