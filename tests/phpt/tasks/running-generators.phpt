--TEST--
A task that is killed by its own code, in a generator that it delegates to, or while other code runs its generator
--FILE--
<?php
use Async\Task\{Scheduler, Task};
use function Async\await;
use function Async\Task\getTaskId;

require __DIR__ . '/kit.inc';

function delegate(Scheduler $s, int $id): Generator
{
    try {
        yield;
        var_dump($s->killTask($id));
        echo "runs on to its yield\n";
        yield;
        echo "WRONG: goes on\n";
    } finally {
        echo "finally of the delegate\n";
    }
}

function delegating(Scheduler $s): Generator
{
    try {
        $id = yield getTaskId();
        yield from delegate($s, $id);
        echo "WRONG: goes on\n";
    } finally {
        echo "finally of the delegating one\n";
    }
}

function calling(Scheduler $s): Generator
{
    try {
        yield delegating($s);
        echo "WRONG: goes on\n";
    } finally {
        echo "finally of the caller\n";
    }
}

$s = new Scheduler;
$s->newTask(calling($s));
$s->run();

echo "-- user code runs the generator, and kills its task from there\n";
function inner(Scheduler $s): Generator
{
    yield;
    var_dump($s->killTask(2));
    yield;
    echo "it is no task's any more, and goes on\n";
}
$generator = (function() use ($s) {
    try {
        yield from inner($s);
    } finally {
        echo "finally, once\n";
    }
})();
$s->newTask($generator);
$generator->current();
$generator->next();
$generator->next();
$s->run();
unset($generator);

echo "-- a task whose generator user code is running\n";
$generator = (function() use (&$s) {
    yield;
    $s->run();
    echo "its code goes on\n";
    yield;
})();
$task = new Task(100, $generator);
$s->schedule($task);
$generator->current();
$generator->next();
try {
    await($task);
} catch (Error $e) {
    echo said($e), "\n";
}
?>
--EXPECT--
bool(true)
runs on to its yield
finally of the delegate
finally of the delegating one
finally of the caller
-- user code runs the generator, and kills its task from there
bool(true)
it is no task's any more, and goes on
finally, once
-- a task whose generator user code is running
its code goes on
Error: The generator of this task is being run by other code
