--TEST--
Task::run() by user code: values, exceptions, and where it is refused
--FILE--
<?php
use Async\Task\{Scheduler, Task};
use function Async\await;

require __DIR__ . '/kit.inc';

$task = new Task(1, (function() use (&$task) {
    try {
        $task->run();
    } catch (Error $e) {
        echo said($e), "\n";
    }
    echo yield 'yielded', "\n";
    return yield (function() { yield 'by the called one'; return 'its result'; })();
})());
var_dump($task->getTaskId(), $task->run(), $task->isFinished());
$task->setSendValue('sent');
var_dump($task->run(), $task->run(), $task->isFinished(), $task->run(), await($task));

echo "-- exceptions\n";
$task = new Task(2, (function() {
    try {
        yield 'yielded';
    } catch (LogicException $e) {
        echo 'caught: ', said($e), "\n";
    }
    throw new LogicException('out');
})());
$task->setException(new LogicException('in'));
var_dump($task->run());
try {
    $task->run();
} catch (LogicException $e) {
    echo said($e), "\n";
}
try {
    await($task);
} catch (LogicException $again) {
    var_dump($e === $again);
}

echo "-- killed while it runs so\n";
$s = new Scheduler;
$task = new Task(3, (function() use ($s) {
    yield;
    try {
        var_dump($s->killTask(3));
        yield;
    } finally {
        echo "finally\n";
    }
})());
$s->schedule($task);
$s->killTask(4);
$s->newTask((function() use ($task) {
    try {
        $task->run();
    } catch (Error $e) {
        echo said($e), "\n";
    }
    yield;
})());
$s->run();
var_dump($task->isFinished());

$calls = [
    fn() => $task->__construct(4, (function() { yield; })()),
    fn() => clone $task,
    fn() => serialize($task),
    fn() => (new ReflectionClass(Task::class))->newInstanceWithoutConstructor(),
    fn() => new Task(1, new ArrayIterator),
    fn() => $task->setException('text'),
];
foreach ($calls as $call) {
    try {
        $call();
        echo "WRONG: done\n";
    } catch (Throwable $e) {
        echo said($e), "\n";
    }
}
?>
--EXPECT--
Error: The task is running
int(1)
string(7) "yielded"
bool(false)
sent
string(17) "by the called one"
NULL
bool(true)
NULL
string(10) "its result"
-- exceptions
string(7) "yielded"
caught: LogicException: in
LogicException: out
bool(true)
-- killed while it runs so
Error: A task that is queued, or waits, is run by its scheduler
bool(true)
finally
bool(true)
Error: A task is constructed once
Error: Trying to clone an uncloneable object of class Async\Task\Task
Exception: Serialization of 'Async\Task\Task' is not allowed
ReflectionException: Class Async\Task\Task is an internal class marked as final that cannot be instantiated without invoking its constructor
TypeError: Async\Task\Task::__construct(): Argument #2 ($coroutine) must be of type Generator, ArrayIterator given
TypeError: Async\Task\Task::setException(): Argument #1 ($exception) must be of type Throwable, string given
