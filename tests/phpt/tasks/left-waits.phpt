--TEST--
A failure that has come for a task which is killed before it gets it is not lost
--INI--
async.seed=0
--FILE--
<?php
use Async\Task\Scheduler;
use function Async\{delay, spawn, suspend};

require __DIR__ . '/kit.inc';
print_reports();

$s = new Scheduler;
$failing = spawn(function() use ($s, &$id) {
    suspend();
    // runs before run() does, which this failure wakes
    spawn(function() use ($s, &$id) {
        var_dump($s->killTask($id));
    });
    throw new LogicException('the failure');
});
$id = $s->newTask((function() use (&$failing) {
    $awaited = $failing;
    $failing = null;
    try {
        yield $awaited;
        echo "WRONG: goes on\n";
    } catch (LogicException) {
        echo "WRONG: gets it\n";
    } finally {
        echo "killed\n";
    }
})());
$s->run();
echo "WRONG: not shut down\n";
?>
--EXPECT--
killed
bool(true)
reported: LogicException: the failure
