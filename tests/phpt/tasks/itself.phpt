--TEST--
A task that waits for itself, or for the coroutine that runs it, would never go on
--FILE--
<?php
use Async\{CoroutineGroup, DeadlockError};
use Async\Task\{Scheduler, Task};
use function Async\{await, spawn};

require __DIR__ . '/kit.inc';
print_reports();

$s = new Scheduler;
$task = new Task(1, (function() use (&$task) {
    try {
        yield $task;
    } catch (Async\AsyncException $e) {
        echo said($e), "\n";
    }
})());
$s->schedule($task);
$s->run();

$running = spawn(function() use ($s, &$running) {
    $s->newTask((function() use (&$running) {
        try {
            yield $running;
        } catch (Async\AsyncException $e) {
            echo strtok(said($e), '.'), "\n";
        }
        $group = new CoroutineGroup;
        $group->add($running);
        try {
            yield $group;
        } catch (Async\AsyncException $e) {
            echo said($e), "\n";
        }
    })());
    $s->run();
});
await($running);

// two for each other
$one = new Task(10, (function() use (&$two) { yield $two; })());
$two = new Task(11, (function() use (&$one) { yield $one; })());
$s->schedule($one);
$s->schedule($two);
try {
    @$s->run();
} catch (DeadlockError $e) {
    echo said($e), "\n";
}
exit(0);
?>
--EXPECT--
Async\AsyncException: A task cannot await itself
Async\AsyncException: A coroutine cannot await itself
Async\AsyncException: A coroutine cannot await a group that it is in: it would never complete
Async\DeadlockError: Deadlock: a coroutine waits for what can never happen
reported: Async\DeadlockError: Deadlock: a coroutine waits for what can never happen
