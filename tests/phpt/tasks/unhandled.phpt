--TEST--
A task that throws ends alone: the others go on, and the failure is reported when run() has returned; an error handler that throws is one more failure
--FILE--
<?php
use Async\Task\{Scheduler, Task};
use function Async\{delay, spawn};

require __DIR__ . '/kit.inc';
print_reports();
set_error_handler(function(int $level, string $message) {
    throw new ErrorException($message);
});

$s = new Scheduler;
$s->newTask((function() { yield; yield $undefined; })());
$s->newTask((function() { yield; throw new LogicException('unhandled'); })());
$s->newTask((function() {
    yield;
    try {
        yield (function() { yield; echo $undefined; })();
    } catch (ErrorException $e) {
        echo 'caught: ', said($e), "\n";
    }
})());
$s->newTask(bystander(8));
$s->run();
echo "run() has returned\n";
try {
    delay(60_000);
} catch (Async\CancellationException $e) {
    echo said($e), "\n";
}
?>
--EXPECTF--
caught: ErrorException: Undefined variable $undefined
the bystander has ended
run() has returned
Async\CancellationException: cancelled by graceful shutdown because of an unhandled LogicException: unhandled, thrown at %sunhandled.php:13 in coroutine #3, spawned at %sunhandled.php:%d after LogicException: unhandled
reported: ErrorException: Undefined variable $undefined
reported: LogicException: unhandled
