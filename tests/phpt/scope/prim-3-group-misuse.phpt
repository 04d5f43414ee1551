--TEST--
PRIM-3 groups: finished, failed, cancelled, main and own members, spawn after the end, tokens, scopes, 1,000 members, nested
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{CancellationException, CoroutineGroup, Scope};
use function Async\{await, currentCoroutine, delay, spawn, suspend, timeout};

$group = new CoroutineGroup;
attempt('empty', fn() => await($group));
$finished = spawn(fn() => 'finished');
await($finished);
$group->add($finished);
$group->add($finished);
attempt('finished, added twice', fn() => await($group));
$group->spawn(fn() => 'more');
attempt('awaited again', fn() => await($group));

$failed = spawn('fails', 'seen before');
attempt('failed', fn() => await($failed));
$group = new CoroutineGroup;
$slow = $group->spawn(fn() => delay(600_000));
suspend();
suspend();
$group->add($failed);
attempt('with a failed one', fn() => await($group));
T\turns(5);
attempt('the rest', fn() => [$slow->isCancelled(), array_keys($group->getErrors())]);
$late = $group->spawn(fn() => 'late');
attempt('spawned after', fn() => await($late));
attempt('results', fn() => $group->getResults());
attempt('the same failure', fn() => await($group));

$cancelled = spawn(fn() => delay(600_000));
$cancelled->cancel(new CancellationException('before'));
$group = new CoroutineGroup;
$group->add($cancelled);
$rest = $group->spawn(fn() => delay(600_000));
attempt('with a cancelled one', fn() => await($group));
attempt('no error', fn() => $group->getErrors());

$group = new CoroutineGroup;
$group->add(currentCoroutine());
attempt('of main, in main', fn() => await($group));
attempt('of main, as the token', fn() => await(spawn(fn() => 'result'), $group));
$group = new CoroutineGroup;
$self = $group->spawn(fn() => attempt('of itself', fn() => await($group)));
attempt('by another', fn() => await($group));

$group = new CoroutineGroup;
$group->spawn(function() { T\turns(30); fails('for both'); });
attempt('a token', fn() => await($group, timeout(5)));
foreach ([1, 2] as $i) {
    $waiters[] = spawn(fn() => attempt('waiter', fn() => await($group)));
}
array_map('Async\await', $waiters);

$group = new CoroutineGroup;
T\parked($group->spawn(fn() => delay(600_000)));
$group->cancel(new CancellationException('of the group'));
$group->cancel();
attempt('cancelled', fn() => await($group));
$group = new CoroutineGroup;
T\parked($group->spawn(fn() => delay(600_000)));
@$group->dispose();
attempt('disposed of', fn() => await($group));
$scope = new Scope;
$group = new CoroutineGroup($scope);
T\parked($group->spawn(fn() => delay(600_000)));
$scope->cancel(new CancellationException('of the scope'));
attempt('in a cancelled scope', fn() => await($group));
attempt('spawn in it', fn() => $group->spawn('strlen', 'x'));

$group = new CoroutineGroup;
for ($i = 0; $i < 1000; $i++) {
    $group->spawn(function() use ($i) {
        $i % 3 && suspend();
        return $i;
    });
}
attempt('1,000', fn() => await($group) === range(0, 999));
$group = new CoroutineGroup;
for ($i = 0; $i < 1000; $i++) {
    $group->spawn(fn() => $i === 500 ? T\turns(20) ?? fails('of 500') : delay(600_000));
}
attempt('1,000 with a failure', fn() => await($group));
$nested = function(callable ...$tasks) {
    $group = new CoroutineGroup;
    array_map([$group, 'spawn'], $tasks);
    return await($group);
};
attempt('nested', fn() => $nested(fn() => $nested(fn() => 1, fn() => 2), fn() => $nested()));
attempt('a nested failure', fn() => $nested(fn() => $nested(fn() => delay(600_000), fn() => fails('inner')), fn() => delay(600_000)));

$scope = new Scope;
$scope->setExceptionHandler(fn(Throwable $e) => print("handler: {$e->getMessage()}\n"));
foreach (['awaited', 'asked for', 'unseen'] as $how) {
    $group = new CoroutineGroup($scope);
    $group->spawn('fails', $how);
    T\turns(5);
    if ($how === 'awaited') {
        attempt('group', fn() => await($group));
    } elseif ($how === 'asked for') {
        attempt('errors', fn() => count($group->getErrors()));
    }
    unset($group);
    T\turns(5);
}
echo T\php(<<<'PHP'
    function lost(): void { $group = new Async\CoroutineGroup; $group->spawn(fn() => throw new Exception('lost')); Async\delay(5); }
    set_exception_handler(fn(Throwable $e) => print("unhandled: {$e->getMessage()}\n"));
    lost();
    echo "goes on to the next suspension\n";
    Async\delay(600_000);
    echo "not reached\n";
    PHP), "\n";
?>
--EXPECT--
empty: []
finished, added twice: ["finished"]
awaited again: ["finished","more"]
failed: RuntimeException: seen before
with a failed one: RuntimeException: seen before
the rest: [true,[1]]
spawned after: "late"
results: {"2":"late"}
the same failure: RuntimeException: seen before
with a cancelled one: Async\CancellationException: before
no error: []
of main, in main: Async\AsyncException: A coroutine cannot await a group that it is in: it would never complete
of main, as the token: "result"
of itself: Async\AsyncException: A coroutine cannot await a group that it is in: it would never complete
by another: [null]
a token: Async\TimeoutException: The wait was given up after 5 ms
waiter: RuntimeException: for both
waiter: RuntimeException: for both
cancelled: Async\CancellationException: of the group
disposed of: Async\CancellationException: cancelled at prim-3-group-misuse.php:62
in a cancelled scope: Async\CancellationException: of the scope
spawn in it: Async\AsyncException: Coroutine scope is closed
1,000: true
1,000 with a failure: RuntimeException: of 500
nested: [[1,2],[]]
a nested failure: RuntimeException: inner
group: RuntimeException: awaited
errors: 1
handler: unseen
[255] goes on to the next suspension
unhandled: lost
