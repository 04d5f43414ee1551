--TEST--
SCOPE-2 handlers, callbacks and values that refer to their scope are not garbage while it runs, and are collected after
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{BoundedScope, CoroutineGroup, Scope};
use function Async\{delay, suspend, timeout};

final class Value
{
    public function __destruct() { echo "the value is gone\n"; }
}
(function() {
    $scope = new Scope;
    $scope->setExceptionHandler(function(Throwable $e) use ($scope) { echo get_class($scope), ": {$e->getMessage()}\n"; });
    $scope->setChildScopeExceptionHandler(function(Throwable $e) use ($scope) {});
    $scope->onFinally(function(Scope $s) use ($scope) { echo 'finished: ', json_encode($s === $scope && $s->isFinished()), "\n"; });
    $scope->set('self', $scope)->set('value', new Value);
    $scope->spawn(function() { T\turns(50); fails(); });
    $GLOBALS['weak'] = WeakReference::create($scope);
})();
suspend();
for ($i = 0; $i < 4; $i++) {
    gc_collect_cycles();
    $others[] = [str_repeat('x', 300), new ArrayObject([$i])]; // what was freed would be theirs
}
T\turns(100);
for ($i = 0; $i < 4; $i++) {
    gc_collect_cycles();
    suspend();
}
echo 'collected: ', json_encode($weak->get() === null), "\n";

// a group in a cycle, with a failure that nobody has asked for
$scope = new Scope;
$scope->setExceptionHandler(function(Throwable $e) { echo "of a group: {$e->getMessage()}\n"; });
$group = new CoroutineGroup($scope);
$cycle = new ArrayObject([$group]);
$group->spawn(function() use ($cycle) { fails(); });
suspend();
suspend();
unset($group, $cycle);
gc_collect_cycles();
T\turns(10);

$kinds = [
    'handler' => function() { $s = new Scope; $s->setExceptionHandler(fn() => $s); $s->spawn(fn() => 1); $s->awaitCompletion(timeout(60_000)); },
    'never used' => function() { $s = new Scope; $s->setChildScopeExceptionHandler(fn() => $s); },
    'callback' => function() { $s = new Scope; $s->onFinally(function() use ($s) {}); },
    'value' => function() { $s = new Scope; $s->set('s', $s); $s->setExceptionHandler(fn() => $s); },
    'child and parent' => function() { $s = new Scope; $c = Scope::inherit($s); $s->set('c', $c); $c->set('s', $s); },
    'bound' => function() { $s = new BoundedScope; $s->boundedBy($s->spawn(fn() => $s)); suspend(); },
];
foreach ($kinds as $name => $kind) {
    $used = [];
    for ($round = 0; $round < 4; $round++) {
        for ($i = 0; $i < 100; $i++) {
            @$kind();
        }
        for ($i = 0; $i < 5; $i++) {
            suspend();
            gc_collect_cycles();
            suspend();
        }
        $used[] = memory_get_usage();
    }
    echo "$name: ", $used[3] - $used[2] < 8000 ? 'flat' : $used[3] - $used[2], "\n";
}
?>
--EXPECT--
Async\Scope: failure
finished: true
the value is gone
collected: true
of a group: failure
handler: flat
never used: flat
callback: flat
value: flat
child and parent: flat
bound: flat
