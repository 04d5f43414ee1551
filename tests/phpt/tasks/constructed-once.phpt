--TEST--
A task is constructed once: not again by its own code, nor while its generator is ended
--FILE--
<?php
use Async\Task\Scheduler;
use Async\Task\Task;

require __DIR__ . '/kit.inc';
print_reports();

/** Constructs the task again. */
function again(Task $task, string $where): void
{
    try {
        $task->__construct(2, (function() { yield; })());
        echo "WRONG: constructed again $where\n";
    } catch (Error $e) {
        echo "$where: ", said($e), "\n";
    }
}

$task = new Task(1, (function() use (&$task) {
    again($task, 'by its code');
    try {
        yield;
        yield;
    } finally {
        again($task, 'at its end');
    }
})());
$s = new Scheduler;
$s->schedule($task);
$s->newTask((function() {
    yield;
    yield Async\Task\killTask(1);
})());
$s->run();
var_dump($task->getTaskId(), $task->isFinished());
?>
--EXPECT--
by its code: Error: A task is constructed once
at its end: Error: A task is constructed once
int(1)
bool(true)
