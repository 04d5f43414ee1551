--TEST--
A wait that was left does not wake the task in its next wait, and the awaited coroutine counts as unawaited
--FILE--
<?php
use Async\Task\{Scheduler, Task};
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';

$first = $second = false;
$one = spawn(function() use (&$first) { while (!$first) suspend(); return 'the result of one'; });
$two = spawn(function() use (&$second) { while (!$second) suspend(); return 'the result of two'; });

$s = new Scheduler;
$task = new Task(1, (function() use ($one, $two) {
    echo 'at first: ', yield $one, "\n";
    echo 'then: ', yield $two, "\n";
})());
$s->schedule($task);
$running = spawn($s->run(...));
T\turns(3);
$task->setSendValue('sent by hand');
$s->schedule($task); // it leaves its wait for one
T\turns(3);
$first = true;
T\turns(3); // one is complete, and the task waits for two
$second = true;
await($running);

// one that was left fails unseen
print_reports();
$go = false;
$failing = spawn(function() use (&$go) { while (!$go) suspend(); throw new LogicException('unseen'); });
$task = new Task(2, (function() use ($failing) { yield $failing; echo "the task has left it\n"; })());
$s->schedule($task);
$running = spawn($s->run(...));
T\turns(3);
$s->schedule($task);
await($running);
$go = true;
T\turns(3);
unset($failing, $task, $running);
T\turns(3);
echo "WRONG: not shut down\n";
?>
--EXPECT--
at first: sent by hand
then: the result of two
the task has left it
reported: LogicException: unseen
