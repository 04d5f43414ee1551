--TEST--
PRIM-5 names of True Async: classes, functions and methods, and what they return
--INI--
async.seed=0
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{Channel, Future, FutureState, Scope, TaskGroup};
use function Async\{await_all, await_all_or_fail, await_any_of, await_any_of_or_fail, await_any_or_fail, await_first_success, coroutine_context, current_coroutine, delay, get_coroutines, spawn, suspend, timeout};

foreach (['TaskGroup' => 'CoroutineGroup', 'Completable' => 'Awaitable', 'OperationCanceledException' => 'AwaitCancelledException', 'CancellationError' => 'CancellationException', 'AsyncCancellation' => 'CancellationException'] as $name => $class) {
    echo "$name: ", (new ReflectionClass("Async\\$name"))->getName() === "Async\\$class" ? $class : 'WRONG', "\n";
}
$after = fn(int $turns, mixed $result) => spawn(function() use ($turns, $result) {
    while ($turns-- > 0) suspend();
    return $result instanceof Throwable ? throw $result : $result;
});
$never = fn() => new Future(new FutureState);
$bad = fn(string $text = 'failure') => new RuntimeException($text);
$said = fn(array $pair) => [$pair[0], array_map(said(...), $pair[1])];

attempt('await_all', fn() => $said(await_all(['a' => $after(2, 1), 'b' => $after(1, $bad()), 'c' => $after(0, 3)])));
attempt('filled', fn() => $said(await_all(triggers: ['a' => $after(2, 1), 'b' => $after(1, $bad()), 'c' => $after(0, 3)], fillNull: true)));
attempt('of none', fn() => await_all([]));
attempt('token', fn() => await_all([$never()], timeout(1)));
attempt('await_all_or_fail', fn() => await_all_or_fail(['a' => $after(2, 1), 'b' => $after(1, 2)], null, true));
attempt('fails', fn() => await_all_or_fail([$never(), $after(1, $bad())]));
attempt('await_any_or_fail', fn() => await_any_or_fail([$never(), $after(1, 'first')]));
attempt('fails', fn() => await_any_or_fail([$never(), $after(1, $bad())]));
attempt('await_first_success', fn() => $said(await_first_success(['a' => $after(1, $bad()), 'b' => $after(3, 'success'), 'c' => $never()])));
attempt('none succeeds', fn() => $said(await_first_success([$after(1, $bad('one')), $after(2, $bad('two'))])));
attempt('await_any_of', fn() => $said(await_any_of(2, ['a' => $after(1, $bad()), 'b' => $after(3, 'b'), 'c' => $after(2, 'c'), 'd' => $never()])));
attempt('not so many', fn() => $said(await_any_of(2, ['a' => $after(1, $bad()), 'b' => $after(3, 'b')], fillNull: true)));
attempt('await_any_of_or_fail', fn() => await_any_of_or_fail(2, ['a' => $after(9, 1), 'b' => $after(2, 2), 'c' => $after(3, 3)]));
attempt('fails', fn() => await_any_of_or_fail(count: 2, triggers: [$never(), $after(1, $bad())], preserveKeyOrder: false));
attempt('more than there are', fn() => await_any_of_or_fail(2, [$never()]));
attempt('coroutines', fn() => [current_coroutine() === Async\currentCoroutine(), count(get_coroutines()) === count(Async\getCoroutines())]);
attempt('context', function() { Async\localContext()->set('key', 'value'); return coroutine_context()->get('key'); });
attempt('channel', function() { $c = new Channel(1); return [$c->sendAsync('a'), $c->sendAsync('b'), $c->recv()]; });
attempt('future', fn() => [Future::completed(1)->isCompleted(), (new FutureState)->isCompleted(), get_class(Future::failed(new Exception)->ignore())]);
attempt('ignored state', function() { $s = new FutureState; $s->ignore(); $s->error(new Exception('no warning')); });
attempt('finally of a coroutine', function() use ($after) { $c = $after(1, 1); $c->finally(function($c) { echo 'finally of a ', get_class($c), "\n"; }); Async\await($c); suspend(); });
attempt('finally of a scope', function() { $s = new Scope; $s->finally(function($s) { echo 'finally of a ', get_class($s), "\n"; }); Async\await($s->spawn(fn() => 1)); suspend(); suspend(); });
attempt('task group', function() { $g = new TaskGroup(scope: new Scope); $g->spawn(fn() => 1); $g->spawn(fn() => 2); return [Async\await($g), $g->getResults(), $g->getErrors()]; });
attempt('task group with a limit', fn() => new TaskGroup(4));
$ended = T\php('Async\spawn(function() { try { Async\delay(60000); } finally { echo "cancelled"; } }); Async\suspend(); Async\graceful_shutdown();');
echo "graceful_shutdown: $ended\n";
?>
--EXPECT--
TaskGroup: CoroutineGroup
Completable: Awaitable
OperationCanceledException: AwaitCancelledException
CancellationError: CancellationException
AsyncCancellation: CancellationException
await_all: [{"a":1,"c":3},{"b":"RuntimeException: failure"}]
filled: [{"a":1,"b":null,"c":3},{"b":"RuntimeException: failure"}]
of none: [[],[]]
token: Async\TimeoutException: The wait was given up after 1 ms
await_all_or_fail: {"a":1,"b":2}
fails: RuntimeException: failure
await_any_or_fail: "first"
fails: RuntimeException: failure
await_first_success: ["success",{"a":"RuntimeException: failure"}]
none succeeds: [null,["RuntimeException: one","RuntimeException: two"]]
await_any_of: [{"b":"b","c":"c"},{"a":"RuntimeException: failure"}]
not so many: [{"a":null,"b":"b"},{"a":"RuntimeException: failure"}]
await_any_of_or_fail: {"b":2,"c":3}
fails: RuntimeException: failure
more than there are: ValueError: Async\await_any_of_or_fail(): Argument #1 ($count) must not be greater than the number of awaitables
coroutines: [true,true]
context: "value"
channel: [true,false,"a"]
future: [true,false,"Async\\Future"]
ignored state: null
finally of a Async\Coroutine
finally of a coroutine: null
finally of a Async\Scope
finally of a scope: null
task group: [[1,2],[1,2],[]]
task group with a limit: TypeError: Async\CoroutineGroup::__construct(): Argument #1 ($scope) must be of type ?Async\Scope, int given
graceful_shutdown: [0] cancelled
