--TEST--
What a task may yield, and what its yield throws for anything else
--FILE--
<?php
use Async\{CoroutineGroup, BoundedScope};
use Async\Task\Scheduler;
use function Async\{spawn, suspend, timeout};

require __DIR__ . '/kit.inc';

$s = new Scheduler;
$ended = false;
$s->newTask((function() use (&$ended) {
    foreach ([1, 1.5, true, 'text', [1], new stdClass, fn() => 1, STDIN] as $value) {
        try {
            yield $value;
            echo "WRONG: nothing is thrown\n";
        } catch (TypeError $e) {
            echo $e->getMessage(), "\n";
        }
    }
    var_dump(yield, yield null, yield 'key' => null);
    while (!$ended) yield;
    var_dump(yield timeout(1));
    var_dump(yield spawn(fn() => 'of a coroutine'));
    $complete = spawn(fn() => 'complete before');
    yield;
    yield;
    var_dump(yield $complete, yield $complete);
    $group = new CoroutineGroup;
    $group->spawn(fn() => 1);
    $group->spawn(fn() => 2);
    echo json_encode(yield $group), "\n";
    $group = new CoroutineGroup;
    $group->spawn(fn() => throw new LogicException('of a group'));
    try {
        yield $group;
    } catch (LogicException $e) {
        echo said($e), "\n";
    }
    $scope = new BoundedScope;
    $scope->spawn(fn() => print("in a scope\n"));
    var_dump(yield $scope);
    $scope = new BoundedScope;
    $go = false;
    $scope->spawn(function() use (&$go) { while (!$go) suspend(); throw new LogicException('of a scope'); });
    try {
        spawn(function() use (&$go) { T\turns(5); $go = true; });
        yield $scope;
        echo "WRONG: nothing is thrown\n";
    } catch (LogicException $e) {
        echo said($e), "\n";
    }
})());
$s->newTask((function() use (&$ended) {
    yield from bystander(100);
    $ended = true;
})());
$s->run();
?>
--EXPECT--
A task cannot yield int: only null, a Generator, a SystemCall, an Async\Awaitable or retval()
A task cannot yield float: only null, a Generator, a SystemCall, an Async\Awaitable or retval()
A task cannot yield bool: only null, a Generator, a SystemCall, an Async\Awaitable or retval()
A task cannot yield string: only null, a Generator, a SystemCall, an Async\Awaitable or retval()
A task cannot yield array: only null, a Generator, a SystemCall, an Async\Awaitable or retval()
A task cannot yield stdClass: only null, a Generator, a SystemCall, an Async\Awaitable or retval()
A task cannot yield Closure: only null, a Generator, a SystemCall, an Async\Awaitable or retval()
A task cannot yield resource: only null, a Generator, a SystemCall, an Async\Awaitable or retval()
NULL
NULL
NULL
the bystander has ended
NULL
string(14) "of a coroutine"
string(15) "complete before"
string(15) "complete before"
[1,2]
LogicException: of a group
in a scope
NULL
LogicException: of a scope
