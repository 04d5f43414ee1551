--TEST--
schedule() of a task that is queued, runs or has ended does nothing: no step is made twice, and no yield returns what was not sent
--FILE--
<?php
use Async\Task\{Scheduler, SystemCall, Task};

require __DIR__ . '/kit.inc';

$s = new Scheduler;
$task = new Task(1, (function() use ($s, &$task) {
    for ($i = 0; $i < 3; $i++) {
        $s->schedule($task);
        $s->schedule($task);
        $sent = yield new SystemCall(function(Task $task, Scheduler $s) use ($i) {
            $task->setSendValue("sent $i");
            $s->schedule($task);
            $s->schedule($task);
        });
        echo "$sent\n";
    }
})());
$s->schedule($task);
$s->schedule($task);
$s->newTask((function() { for ($i = 0; $i < 3; $i++) { echo "another step\n"; yield; } })());
$s->run();
var_dump($task->isFinished());
$s->schedule($task);
$s->run();

// a call that does not schedule its task, and one that throws after it has
$idle = new Task(2, (function() {
    try {
        echo yield new SystemCall(function(Task $task, Scheduler $s) {}), "\n";
        yield new SystemCall(function(Task $task, Scheduler $s) { $s->schedule($task); throw new LogicException('of the call'); });
    } catch (LogicException $e) {
        echo said($e), "\n";
    }
})());
$s->schedule($idle);
$s->run();
echo "it is not scheduled\n";
$idle->setSendValue('later');
$s->schedule($idle);
$s->run();
?>
--EXPECT--
another step
sent 0
another step
sent 1
another step
sent 2
bool(true)
it is not scheduled
later
LogicException: of the call
