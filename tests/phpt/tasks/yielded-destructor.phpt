--TEST--
The destructor of a value that no scheduler knows throws in the task that has yielded it
--FILE--
<?php
use Async\Task\Scheduler;

require __DIR__ . '/kit.inc';
print_reports();

$s = new Scheduler;
$s->newTask((function() {
    try {
        yield new Thrower('a yielded value');
    } catch (TypeError $e) {
        echo said($e), "\n";
    }
    unset($e);
    yield; // here PHP releases the value; no catch block of a generator gets what that throws
    echo "WRONG: the task goes on\n";
})());
$s->newTask(bystander(5));
$s->run();
?>
--EXPECT--
TypeError: A task cannot yield Thrower: only null, a Generator, a SystemCall, an Async\Awaitable or retval()
the bystander has ended
reported: RuntimeException: destructor of a yielded value
