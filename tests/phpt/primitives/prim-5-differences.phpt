--TEST--
PRIM-5 What differs from True Async is as docs/upstream.md says
--FILE--
<?php
require_once (getenv('SPINDLE_ROOT') ?: dirname(__DIR__, 3)) . '/tests/phpt/primitives/kit.inc';

use Async\{AsyncCancellation, Channel, Scope, TaskGroup};
use function Async\{await, await_all, await_any_of, await_any_of_or_fail, await_any_or_fail, await_first_success, delay, get_coroutines,
    iterate, spawn, suspend, timeout};
use function T\until;

echo 'coroutines before the first spawn: ', count(get_coroutines()), "\n";

$fails = fn () => spawn(fn () => throw new LogicException('failed'));
attempt('any of nothing', fn () => await_any_or_fail([]));
attempt('first success of nothing', fn () => await_first_success([]));
attempt('first success of failures', fn () => count(await_first_success([$fails(), $fails()])[1]));
attempt('three of one', fn () => await_any_of(3, [spawn(fn () => 1)]));
attempt('three of one, or fail', fn () => await_any_of_or_fail(3, [spawn(fn () => 1)]));
attempt('all, with nulls', fn () => await_all(['a' => $fails(), 'b' => spawn(fn () => 1)], fillNull: true)[0]);

$sleeper = spawn(fn () => delay(3_600_000));
until(fn () => $sleeper->isStarted());
attempt('the end of a wait is a cancellation', function () use ($sleeper) {
    try {
        await($sleeper, timeout(1));
    } catch (Exception $e) {
        return $e instanceof AsyncCancellation;
    }
});
$sleeper->cancel();
attempt('a cancellation is an Exception', function () use ($sleeper) {
    try {
        await($sleeper);
    } catch (AsyncCancellation $e) {
        return $e instanceof Exception;
    }
});
attempt('trace of one that has ended', fn () => $sleeper->getTrace());
attempt('exception of one that runs', fn () => Async\current_coroutine()->getException());

$ends = spawn(fn () => 1);
$ends->onFinally(fn () => print("registered first\n"));
$ends->onFinally(fn () => print("registered last\n"));
await($ends);

$scope = new Scope;
$zombie = $scope->spawn(function () { delay(1); echo "a zombie ends\n"; });
until(fn () => $zombie->isStarted());
@$scope->disposeSafely();
$scope->awaitCompletion(timeout(3_600_000));
echo "and its scope was waited for\n";

$gate = new Channel;
iterate([1], function () use ($gate, &$spawned) {
    $spawned = spawn(function () use ($gate) { $gate->recv(); echo "spawned by a callback, and not cancelled\n"; });
    until(fn () => $spawned->isStarted());
});
echo "iterated\n";
$gate->send(null);
await($spawned);

$channel = new Channel;
$sender = spawn(fn () => $channel->send(1));
until(fn () => $sender->isStarted());
attempt('values, with a sender that waits', fn () => count($channel));
$channel->recv();
await($sender);
attempt('a group', function () {
    $group = new TaskGroup;
    $group->spawn(fn () => 1);
    $group->spawn(fn () => 2);
    return await($group);
});
attempt('a group with a limit', fn () => new TaskGroup(concurrency: 2));
?>
--EXPECT--
coroutines before the first spawn: 1
any of nothing: ValueError: Async\await_any_or_fail(): Argument #1 ($triggers) must contain at least one awaitable
first success of nothing: [null,[]]
first success of failures: 2
three of one: [[1],[]]
three of one, or fail: ValueError: Async\await_any_of_or_fail(): Argument #1 ($count) must not be greater than the number of awaitables
all, with nulls: {"a":null,"b":1}
the end of a wait is a cancellation: false
a cancellation is an Exception: true
trace of one that has ended: []
exception of one that runs: null
registered last
registered first
a zombie ends
and its scope was waited for
iterated
spawned by a callback, and not cancelled
values, with a sender that waits: 0
a group: [1,2]
a group with a limit: Error: Unknown named parameter $concurrency
