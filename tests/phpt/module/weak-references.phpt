--TEST--
Weak references to objects of the extension are empty when what these hold is destroyed
--FILE--
<?php
use Async\{CoroutineGroup, Scope};
use function Async\{await, spawn};

/** Looks at a weak reference when it is destroyed. */
final class Last
{
    public ?WeakReference $reference = null;

    public function __construct(private string $name) {}

    public function __invoke() {}

    public function __destruct()
    {
        global $kept;
        $kept = $this->reference->get();
        echo "$this->name: ", $kept === null ? 'gone' : 'still there', "\n";
    }
}

function watch(object $holder, Last $last): void
{
    $last->reference = WeakReference::create($holder);
}

$scope = new Scope();
$scope->setExceptionHandler($last = new Last('a handler of a scope'));
watch($scope, $last);
unset($last, $scope);

$group = new CoroutineGroup();
$last = new Last('a result of a group');
$group->spawn(static fn() => $last);
watch($group, $last);
unset($last);
await($group);
unset($group);

$last = new Last('a result of a coroutine');
$coroutine = spawn(static fn() => $last);
watch($coroutine, $last);
unset($last);
await($coroutine);
unset($coroutine);

class OwnScope extends Scope
{
    public ?Last $last = null;
}
$scope = new OwnScope();
watch($scope, $scope->last = new Last('a property of a class below'));
unset($scope);
echo "end\n";
?>
--EXPECT--
a handler of a scope: gone
a result of a group: gone
a result of a coroutine: gone
a property of a class below: gone
end
