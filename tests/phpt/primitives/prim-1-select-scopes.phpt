--TEST--
PRIM-4 select() and await…() of scopes that fail: the failure is thrown once, and goes nowhere else
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{BoundedScope, Channel, Future, FutureState};
use function Async\{awaitAll, awaitAny, awaitAnyOf, awaitFirst, select, spawn, suspend};

$fails = function(string $text = 'in the scope') {
    $scope = new BoundedScope;
    $scope->spawn(function() use ($text) { suspend(); throw new RuntimeException($text); });
    return $scope;
};
$never = fn() => new Future(new FutureState);
$later = fn() => spawn(function() { for ($i = 0; $i < 9; $i++) suspend(); return 'later'; });
attempt('select', fn() => select([new Channel, $fails()]));
attempt('awaitAll', fn() => awaitAll([$never(), $fails()]));
attempt('awaitAny', fn() => awaitAny([$never(), $fails()]));
attempt('awaitFirst', fn() => awaitFirst([$later(), $fails()]));
attempt('awaitAnyOf', fn() => awaitAnyOf(1, ['a' => $later(), 'b' => $fails()]));
attempt('all have failed', fn() => awaitFirst([$fails('one'), $fails('two')]));
attempt('failures', function() use ($fails) {
    try {
        awaitFirst(['a' => $scope = $fails('one'), 'b' => $scope, 'c' => $fails('two')]);
    } catch (Async\CompositeException $e) {
        return array_map(said(...), $e->getExceptions());
    }
});
attempt('token', fn() => awaitAll([$never()], $fails()));
attempt('token of select', fn() => select([new Channel], $fails()));
attempt('token of recv', fn() => (new Channel)->recv($fails()));
attempt('token of send', fn() => (new Channel)->send(1, $fails()));
attempt('operation and token', fn() => select([$scope = $fails(), new Channel], $scope));
attempt('awaited and token', fn() => awaitAll([$scope = $fails(), $never()], $scope));
attempt('twice', fn() => awaitAll([$scope = $fails(), $scope]));
attempt('twice in select', fn() => select([$scope = $fails(), $scope]));
attempt('await and token', fn() => Async\await($scope = $fails(), $scope));
attempt('one that has failed', function() use ($fails) { $s = $fails(); try { Async\await($s); } catch (RuntimeException) {} return select([$s]); });
attempt('one that ends well', function() { $s = new BoundedScope; $s->spawn(fn() => suspend()); return select(['s' => $s]); });
// it is thrown at once, while the scope winds down
foreach (['select', 'awaitAll', 'awaitAny'] as $function) {
    $go = false;
    attempt("$function, at once", function() use ($function, &$go) {
        $scope = new BoundedScope;
        T\begun($scope->spawn(function() use (&$go) { try { Async\delay(60000); } finally { while (!$go) suspend(); echo "it has wound down\n"; } }));
        $scope->spawn(function() { suspend(); throw new RuntimeException('in the scope'); });
        return ("Async\\$function")([$scope, new Future(new FutureState)]);
    });
    $go = true;
    T\alone();
}
attempt('its own', function() { $s = new BoundedScope; return Async\await($s->spawn(fn() => select([$s, new Channel]))); });
?>
--EXPECTF--
select: RuntimeException: in the scope
awaitAll: RuntimeException: in the scope
awaitAny: RuntimeException: in the scope
awaitFirst: "later"
awaitAnyOf: {"a":"later"}
all have failed: Async\CompositeException: 2 of 2 awaitables have failed
failures: {"a":"RuntimeException: one","b":"RuntimeException: one","c":"RuntimeException: two"}
token: Async\AwaitCancelledException: The wait was cancelled by its token after RuntimeException: in the scope
token of select: Async\AwaitCancelledException: The wait was cancelled by its token after RuntimeException: in the scope
token of recv: Async\AwaitCancelledException: The wait was cancelled by its token after RuntimeException: in the scope
token of send: Async\AwaitCancelledException: The wait was cancelled by its token after RuntimeException: in the scope
operation and token: RuntimeException: in the scope
awaited and token: RuntimeException: in the scope
twice: RuntimeException: in the scope
twice in select: RuntimeException: in the scope
await and token: RuntimeException: in the scope
one that has failed: RuntimeException: in the scope
one that ends well: ["s",null]
select, at once: RuntimeException: in the scope
it has wound down
awaitAll, at once: RuntimeException: in the scope
it has wound down
awaitAny, at once: RuntimeException: in the scope
it has wound down
its own: Async\AsyncException: Awaiting a scope from within itself or its child scope would cause a deadlock. Scope created at %s:49
