--TEST--
PRIM-3 CoroutineGroup: results in the order of spawning, the first failure, adding, cancelling, disposing of it
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{Channel, CoroutineGroup, Future, Scope};
use function Async\{await, awaitAll, currentScope, select, spawn, suspend, timeout};

$after = fn(int $turns, mixed $result) => function() use ($turns, $result) {
    while ($turns-- > 0) suspend();
    return $result instanceof Throwable ? throw $result : $result;
};
$g = new CoroutineGroup;
$g->spawn($after(3, 'slow'));
$g->spawn($after(1, 'quick'));
$g->add($added = spawn($after(2, 'added')));
$g->add($added);
$g->add($g->spawn($after(0, 'both')));
attempt('results', fn() => await($g));
attempt('again', fn() => [await($g), $g->getResults(), $g->getErrors()]);
$g->spawn(fn(string $x) => $x, 'with arguments');
$g->spawn(task: fn(string $x) => $x, x: 'with names');
attempt('more', fn() => await($g));
attempt('empty', fn() => await(new CoroutineGroup));

// one fails: the others are cancelled
$g = new CoroutineGroup;
$log = new ArrayObject;
$first = $g->spawn(function() use ($log) { try { Async\delay(60000); } finally { $log[] = 'cancelled'; } });
$second = $g->spawn($after(1, 'result'));
$g->spawn(function() use (&$go) { while (!$go) suspend(); throw new LogicException('failure'); });
$late = $g->spawn(fn() => Async\delay(60000));
T\begun($first, $late);
T\ended($second);
$go = true;
attempt('fails', fn() => await($g));
T\alone();
attempt('after it', fn() => [(array) $log, $g->getResults(), array_map(said(...), $g->getErrors()), $late->isCancelled()]);
attempt('why', fn() => throw $late->getException());
attempt('again', fn() => await($g));
attempt('one that has failed is added', function() use ($after) { $g = new CoroutineGroup; $c = spawn($after(0, new LogicException('before'))); T\ended($c); $g->add($c); return await($g); });

// cancelled, by itself and with a reason
$g = new CoroutineGroup;
$one = $g->spawn(fn() => Async\delay(60000));
T\begun($one);
$g->cancel(new Async\CancellationException('the reason'));
attempt('cancelled', fn() => await($g));
attempt('and its coroutine', fn() => await($one));
$g = new CoroutineGroup;
$g->spawn(fn() => print("never\n"));
$g->cancel();
attempt('cancelled before it began', fn() => await($g));
attempt('cancel of none', fn() => (new CoroutineGroup)->cancel());
// one of it is cancelled from outside
$g = new CoroutineGroup;
$one = $g->spawn(fn() => Async\delay(60000));
$two = $g->spawn(fn() => Async\delay(60000));
T\begun($one, $two);
$one->cancel();
attempt('one is cancelled', fn() => await($g));
T\alone();
attempt('the other one', fn() => $two->isCancelled());

// scopes
$scope = new Scope;
$g = new CoroutineGroup(scope: $scope);
$g->spawn(fn() => currentScope() === $scope);
attempt('its scope', fn() => await($g));
$scope->cancel();
attempt('closed', fn() => $g->spawn(fn() => 1));
attempt('no scope', fn() => new CoroutineGroup(5));
attempt('no coroutine', fn() => $g->add(Future::completed()));
attempt('no callable', fn() => $g->spawn('nothing'));

// awaited in other ways
$g = new CoroutineGroup;
$g->spawn($after(2, 'of the group'));
attempt('token', fn() => await($g, Future::completed()));
attempt('as a token', fn() => (new Channel)->recv($g));
attempt('select', fn() => select([$g, new Channel]));
attempt('awaitAll', fn() => awaitAll(['g' => $g]));
attempt('by two', fn() => T\all([spawn(fn() => await($g)), spawn(fn() => await($g))]));
$g = new CoroutineGroup;
attempt('by one of it', fn() => await($g->spawn(fn() => await($g))));
T\begun($waiter = spawn(function() use ($after) { $g = new CoroutineGroup; $g->spawn(fn() => Async\delay(60000)); await($g); }));
$waiter->cancel();
attempt('the waiter is cancelled', fn() => await($waiter));

// disposed of
set_error_handler(function($level, $message) { echo $level === E_WARNING ? 'Warning: ' : '', preg_replace('~/\S+/~', '', $message), "\n"; return true; });
$g = new CoroutineGroup;
$one = $g->spawn(fn() => Async\delay(60000));
T\ended($g->spawn(fn() => 'ended'));
T\begun($one);
$g->dispose();
attempt('disposed', fn() => await($one));
foreach (Async\getCoroutines() as $left) $left === Async\currentCoroutine() || $left->cancel();
T\alone();
?>
--EXPECTF--
results: ["slow","quick","added","both"]
again: [["slow","quick","added","both"],["slow","quick","added","both"],[]]
more: ["slow","quick","added","both","with arguments","with names"]
empty: []
fails: LogicException: failure
after it: [["cancelled"],{"1":"result"},{"2":"LogicException: failure"},true]
why: Async\CancellationException: cancelled because another coroutine of its group has failed with LogicException: failure, thrown at %sprim-3-group.php:28 in coroutine #%d, spawned at %sprim-3-group.php:%d after LogicException: failure
again: LogicException: failure
one that has failed is added: LogicException: before
cancelled: Async\CancellationException: the reason
and its coroutine: Async\CancellationException: the reason
cancelled before it began: Async\CancellationException: cancelled at %s:49
cancel of none: null
one is cancelled: Async\CancellationException: cancelled at %s:57
the other one: true
its scope: [true]
closed: Async\AsyncException: Coroutine scope is closed
no scope: TypeError: Async\CoroutineGroup::__construct(): Argument #1 ($scope) must be of type ?Async\Scope, int given
no coroutine: TypeError: Async\CoroutineGroup::add(): Argument #1 ($coroutine) must be of type Async\Coroutine, Async\Future given
no callable: Async\AsyncException: Coroutine scope is closed
token: Async\AwaitCancelledException: The wait was cancelled by its token
as a token: Async\AwaitCancelledException: The wait was cancelled by its token
select: [0,["of the group"]]
awaitAll: {"g":["of the group"]}
by two: [["of the group"],["of the group"]]
by one of it: Async\AsyncException: A coroutine cannot await a group that it is in: it would never complete
the waiter is cancelled: Async\CancellationException: cancelled at %s:84
Warning: Coroutine is zombie at prim-3-group.php:90 in CoroutineGroup disposed at prim-3-group.php:93
disposed: Async\CancellationException: cancelled at %s:93
