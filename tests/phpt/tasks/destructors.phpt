--TEST--
Exceptions of destructors of values that are yielded, sent, returned and waited for belong to the task at hand
--INI--
zend.exception_ignore_args=1
--FILE--
<?php
use Async\Task\{Scheduler, SystemCall, Task};
use function Async\Task\retval;

require __DIR__ . '/kit.inc';
print_reports();

function task(): Generator
{
    $each = [
        'local of a called generator' => fn() => (function() { $local = new Thrower('a local'); yield; })(),
        'result of a called generator' => fn() => (function() { return new Thrower('a result'); yield; })(),
        'value of retval()' => fn() => (function() { yield retval(new Thrower('a retval')); })(),
        'result of a system call' => fn() => new SystemCall(function(Task $t, Scheduler $s) {
            $s->schedule($t);
            return new Thrower('a result of a call');
        }),
        'sent value, replaced' => fn() => new SystemCall(function(Task $t, Scheduler $s) {
            $t->setSendValue(new Thrower('a replaced value'));
            $t->setSendValue(1);
            $s->schedule($t);
        }),
    ];
    foreach ($each as $what => $make) {
        echo "$what: ";
        try {
            yield $make();
            echo "nothing yet\n";
        } catch (RuntimeException $e) {
            echo said($e), "\n";
        }
        unset($e);
    }
}

$s = new Scheduler;
$s->newTask(task());
$s->newTask(bystander(30));
$s->run();

echo "-- of a value that was sent, and an exception that was thrown\n";
$s->newTask((function() {
    try {
        yield new SystemCall(function(Task $t, Scheduler $s) {
            $t->setSendValue(new Thrower('a value that nothing uses'));
            $s->schedule($t);
        });
        yield; // the last reference goes here
        echo "WRONG: nothing thrown\n";
    } catch (RuntimeException $e) {
        echo said($e), "\n";
    }
})());
final class Sharp extends Exception
{
    public function __destruct() { throw new RuntimeException('destructor of an exception'); }
}
$s->newTask((function() {
    try {
        try {
            yield new SystemCall(fn(Task $t, Scheduler $s) => throw new Sharp);
        } catch (Sharp) {
        }
        yield; // the last reference goes here
        echo "WRONG: nothing thrown\n";
    } catch (RuntimeException $e) {
        echo said($e), "\n";
    }
})());
$s->newTask(bystander(30));
$s->run();

echo "-- at the ends of tasks: their failures\n";
$s->newTask((function() { yield; return new Thrower('the result of a task'); })());
$s->newTask((function() {
    yield new SystemCall(function(Task $t, Scheduler $s) {
        $t->setSendValue(new Thrower('a value that is never taken'));
        $s->killTask($t->getTaskId());
    });
})());
$s->newTask((function() { $local = new Thrower('a local of a task that ends'); yield; })());
$s->newTask(bystander(30));
$s->run();
?>
--EXPECT--
local of a called generator: RuntimeException: destructor of a local
result of a called generator: nothing yet
value of retval(): RuntimeException: destructor of a result
result of a system call: RuntimeException: destructor of a result of a call
sent value, replaced: RuntimeException: destructor of a replaced value
the bystander has ended
-- of a value that was sent, and an exception that was thrown
RuntimeException: destructor of a value that nothing uses
RuntimeException: destructor of an exception
the bystander has ended
-- at the ends of tasks: their failures
the bystander has ended
reported: RuntimeException: destructor of a value that is never taken
reported: RuntimeException: destructor of the result of a task
reported: RuntimeException: destructor of a local of a task that ends
