--TEST--
A task that throws after it was killed: the failure is reported, and its callers do not go on
--FILE--
<?php
use Async\Task\Scheduler;

require __DIR__ . '/kit.inc';
print_reports();

$s = new Scheduler;
function called(Scheduler $s): Generator
{
    yield;
    $s->killTask(1);
    throw new LogicException('of the killed task');
}
$s->newTask((function() use ($s) {
    try {
        yield called($s);
        echo "WRONG: goes on\n";
    } catch (LogicException $e) {
        echo "WRONG: catches\n";
    } finally {
        echo "finally of the caller\n";
    }
})());
$s->newTask(bystander(3));
$s->run();
?>
--EXPECT--
finally of the caller
the bystander has ended
reported: LogicException: of the killed task
