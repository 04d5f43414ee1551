--TEST--
What a body throws is its coroutine's failure; until it has returned it can do nothing else
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/kit.inc';
Embedding\report_at_end();
use Async\Scope;
use function Async\{await, spawn};
use function Embedding\{await_any, channel, dropped, fail_with, go_on_in_spite, joined, produce, receive, rescue};
use function Embedding\{sleeper, with_child, wrong_result};

function outcome(callable $what): string
{
    try {
        $result = $what();
        return var_export($result instanceof Async\Awaitable ? await($result) : $result, true);
    } catch (Throwable $thrown) {
        return get_class($thrown) . ": {$thrown->getMessage()}, line {$thrown->getLine()}";
    }
}

$throws = fn () => throw new LogicException('of PHP code');
echo outcome(fn () => fail_with('of a body')), "\n", 'dropped: ', dropped(), "\n";
echo outcome(fn () => joined($throws)), "\n";
echo outcome(fn () => joined(fn () => 'a result')), "\n";
echo outcome(fn () => go_on_in_spite($throws)), "\n";
echo outcome(fn () => rescue($throws)), "\n";
echo outcome(wrong_result(...)), "\n";
echo outcome(fn () => await_any(sleeper(0))), "\n";
echo outcome(fn () => await_any(new stdClass)), "\n";
echo outcome(fn () => receive(new stdClass)), "\n";
echo outcome(receive(...)), "\n";

echo outcome(fn () => with_child($throws)), "\n";

// A coroutine of Rust code belongs to the scope of the code that has made it.
$scope = new Scope();
$waits = sleeper(1_000_000);
$inner = await($scope->spawn(fn () => produce(channel(), 2)));
echo $inner->getScope() === $scope ? 'its' : 'another', ' scope, spawned at line ',
    $inner->getSpawnFileAndLine()[1], "\n";
$late = $scope->spawn(function () use ($waits) {
    try {
        await($waits);
    } catch (Async\CancellationException) {
        return outcome(fn () => sleeper(0));
    }
});
T\parked($late);
$scope->cancel();
echo preg_replace('/ at .*/', '', outcome(fn () => $inner)), "\n";
echo preg_replace('/^.*: /', '', outcome(fn () => $scope->spawn(fn () => 1))), "\n";

echo outcome(fn () => $late), "\n";
$waits->cancel();

// Nobody sends.
$deadlock = T\php('Embedding\receive(Embedding\channel());', '-d display_errors=1');
echo $deadlock->has('Async\DeadlockError', 'waits for receive()') ? 'a deadlock' : $deadlock, "\n";
--EXPECT--
Error: of a body, line 20
dropped: 1
LogicException: of PHP code, line 19
'a result'
failed: true, others: [true, true, true, true, true]
LogicException: of PHP code, line 19
'LogicException: of PHP code'
Error: A function has returned string, against its declaration, line 12
'slept'
Error: An object of the class stdClass cannot be awaited, line 27
TypeError: Embedding\receive(): Argument #1 ($channel) must be of type Embedding\Channel, stdClass given, line 28
ArgumentCountError: Embedding\receive() expects exactly 1 argument, 0 given, line 12
child: Async\CancellationException: cancelled
LogicException: of PHP code, line 19
its scope, spawned at line 36
Async\CancellationException: cancelled
Coroutine scope is closed, line 49
'Async\\AsyncException: Coroutine scope is closed, line 43'
a deadlock
request end: 4 dropped
