--TEST--
killTask(): generators are ended, the last one first, and their finally blocks run once; ids, and unknown ones
--INI--
async.seed=0
--FILE--
<?php
use Async\Task\{Scheduler, SystemCall, Task};
use function Async\{await, spawn, timeout};
use function Async\Task\{getTaskId, killTask, newTask};

require __DIR__ . '/kit.inc';

function level(string $name, int $n): Generator
{
    try {
        if ($n > 0) yield level($name, $n - 1);
        yield timeout(600_000);
        echo "WRONG: goes on\n";
    } finally {
        echo "finally of $name $n\n";
    }
}

$s = new Scheduler;
$waiting = $s->newTask(level('one that waits', 2));
$s->newTask((function() use ($waiting) {
    yield;
    yield;
    yield;
    var_dump(yield killTask($waiting));
    try {
        yield killTask($waiting);
    } catch (InvalidArgumentException $e) {
        echo said($e), "\n";
    }
    echo 'new: ', yield newTask((function() { yield; })()), ', this: ', $me = yield getTaskId(), "\n";
    try {
        yield killTask($me);
        echo "WRONG: goes on\n";
    } finally {
        echo "killed by itself\n";
    }
})());
$s->run();
var_dump($s->killTask($waiting), $s->killTask(-1));
echo 'the next id: ', $queued = $s->newTask(bystander(1)), "\n";
var_dump($s->killTask($queued), $s->killTask($queued));
$s->run();

echo "-- who awaits a killed one\n";
$task = new Task(100, level('one that is awaited', 1));
$s->schedule($task);
$running = spawn($s->run(...));
$awaiting = spawn(function() use ($task) {
    try {
        await($task);
    } catch (Async\CancellationException $e) {
        echo said($e), "\n";
        try {
            await($task);
        } catch (Async\CancellationException $again) {
            var_dump($e === $again);
        }
    }
});
T\turns(5);
var_dump($s->killTask(100), $task->isFinished());
await($running);
await($awaiting);

echo "-- a finally block that throws, beside others\n";
print_reports();
$s->newTask((function() {
    try {
        yield (function() { try { yield; yield; } finally { throw new LogicException('the inner one'); } })();
    } finally {
        throw new LogicException('the outer one');
    }
})());
$s->newTask((function() { yield; yield killTask(101); echo "the killer goes on\n"; })());
$s->newTask(bystander(5));
$s->run();
?>
--EXPECT--
finally of one that waits 0
finally of one that waits 1
finally of one that waits 2
NULL
InvalidArgumentException: Invalid task ID!
new: 3, this: 2
killed by itself
bool(false)
bool(false)
the next id: 4
bool(true)
bool(false)
-- who awaits a killed one
finally of one that is awaited 0
finally of one that is awaited 1
bool(true)
bool(true)
Async\CancellationException: The task was killed
bool(true)
-- a finally block that throws, beside others
the killer goes on
the bystander has ended
reported: LogicException: the outer one after LogicException: the inner one
