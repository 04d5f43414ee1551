--TEST--
PRIM-3 a failure that nobody has asked a group for finds its place also when the group dies in a cycle
--FILE--
<?php
use Async\{CoroutineGroup, Scope};
use function Async\suspend;

require __DIR__ . '/kit.inc';

$scope = new Scope;
$told = [];
$scope->setExceptionHandler(function(Throwable $e) use (&$told) { $told[] = $e->getMessage(); });
for ($i = 0; $i < 20; $i++) {
    (function() use ($scope, $i) {
        $object = new stdClass;
        $object->group = $group = new CoroutineGroup($scope);
        $object->coroutine = $group->spawn(function() use ($i, $object) { throw new RuntimeException("failure $i"); });
        $object->self = [$object];
        while (!$object->coroutine->isCompleted()) suspend();
    })();
}
gc_collect_cycles();
$others = array_map(fn(int $i) => new RuntimeException("another $i"), range(1, 200)); // where freed ones have been
T\turns(20); // handlers run
sort($told, SORT_NATURAL);
var_dump($told === array_map(fn(int $i) => "failure $i", range(0, 19)));
?>
--EXPECT--
bool(true)
