--TEST--
The exception of a finally block of a generator that retval() has ended goes to its caller, or is the task's failure
--FILE--
<?php
use Async\Task\{Scheduler, Task};
use function Async\{await, spawn};
use function Async\Task\retval;

require __DIR__ . '/kit.inc';

function called(): Generator
{
    try {
        yield retval('a result');
        echo "WRONG: goes on\n";
    } finally {
        throw new LogicException('of the finally block');
    }
}

$s = new Scheduler;
$s->newTask((function() {
    try {
        var_dump(yield called());
    } catch (LogicException $e) {
        echo 'the caller catches ', said($e), "\n";
    }
    yield;
    echo "the caller goes on\n";
})());
$s->newTask(bystander(4));
$s->run();

$task = new Task(10, called());
$s->schedule($task);
$s->newTask(bystander(4));
$awaiting = spawn(function() use ($task) {
    try {
        await($task);
    } catch (LogicException $e) {
        echo 'who awaits it gets ', said($e), "\n";
    }
});
$s->run();
await($awaiting);

// without a finally block that throws, and by return
$s->newTask((function() {
    echo yield (function() { try { yield retval('by retval'); } finally { echo "finally\n"; } })(), "\n";
    echo yield (function() { return 'by return'; yield; })(), "\n";
    var_dump(yield (function() { yield; })());
})());
$s->run();
?>
--EXPECT--
the caller catches LogicException: of the finally block
the caller goes on
the bystander has ended
who awaits it gets LogicException: of the finally block
the bystander has ended
finally
by retval
by return
NULL
