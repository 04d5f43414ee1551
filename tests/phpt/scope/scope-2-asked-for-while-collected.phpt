--TEST--
SCOPE-2 a destructor that the cycle collector calls asks for a scope whose object the collector frees
--FILE--
<?php
use Async\Scope;
use function Async\{await, currentScope};

/** Garbage with a destructor. */
final class Garbage
{
    public mixed $refers = null;
    public function __construct(private Closure $last, mixed $refers = null) { $this->refers = [$this, $refers]; }
    public function __destruct() { ($this->last)(); }
}

$kept = null;
$scope = new Scope;
$scope->set('key', 'value');
new Garbage(function() use (&$kept) {
    // In the next pass the other one is garbage without a destructor.
    new Garbage(function() use (&$kept) { $kept = currentScope(); });
}, $scope);
$coroutine = $scope->spawn(function() use (&$kept) {
    @gc_collect_cycles();
    $others = [new Scope, new Scope];
    var_dump(get_class($kept), $kept === currentScope(), $kept->get('key'), $kept->isClosed());
});
unset($scope);
await($coroutine);
var_dump($kept->isFinished());
?>
--EXPECT--
string(11) "Async\Scope"
bool(true)
string(5) "value"
bool(true)
bool(true)
