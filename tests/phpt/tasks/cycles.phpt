--TEST--
Cycles through tasks are collected: generators, send values, exceptions, waits, system calls
--FILE--
<?php
use Async\Task\{Scheduler, SystemCall, Task};
use function Async\{await, currentCoroutine, spawn, timeout};
use function Async\Task\newTask;

require __DIR__ . '/kit.inc';

final class Probe
{
    public function __construct(private string $name) {}
    public function __destruct() { echo "freed: $this->name\n"; }
}

function leave(string $name, callable $generator): void
{
    $s = new Scheduler;
    $s->newTask($generator($s, new Probe($name)));
    $s->newTask((function() use ($s) {
        yield;
        yield;
        currentCoroutine()->cancel();
        yield timeout(600_000);
    })());
    try {
        await(spawn($s->run(...)));
    } catch (Async\CancellationException) {
    }
}

leave('of a task that waits', function($s, $probe) { yield timeout(600_000); yield $s; });
leave('of a task that waits for a task', function($s, $probe) {
    $other = new Task(50, (function() use (&$other, $s, $probe) { yield; yield $s; })());
    yield $other;
});
leave('of an exception to throw', function($s, $probe) {
    yield new SystemCall(function(Task $task) use ($probe) {
        $e = new class extends Exception { public $task, $probe; };
        [$e->task, $e->probe] = [$task, $probe];
        $task->setException($e);
    });
});
leave('of a value to send', function($s, $probe) {
    yield new SystemCall(fn(Task $task, $s) => $task->setSendValue([$task, $s, $probe]));
});
leave('of a called generator', function($s, $probe) {
    yield (function() use ($s, $probe) { yield timeout(600_000); })();
});
leave('of a system call that was not yielded', function($s, $probe) {
    $call = newTask((function() use (&$call, $probe) { yield $call; })());
    yield timeout(600_000);
});
leave('of a result', function($s, $probe) {
    $task = new Task(60, (function() use (&$task, $probe) { return [$task, $probe]; yield; })());
    $s->schedule($task);
    yield timeout(600_000);
});
gc_collect_cycles();
echo "collected\n";
?>
--EXPECT--
freed: of a task that waits
freed: of a task that waits for a task
freed: of an exception to throw
freed: of a value to send
freed: of a called generator
freed: of a system call that was not yielded
freed: of a result
collected
