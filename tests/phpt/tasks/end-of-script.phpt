--TEST--
A scheduler whose tasks are ended after the script: finally blocks run, and exceptions are fatal errors
--FILE--
<?php
use Async\Task\Scheduler;

require __DIR__ . '/kit.inc';

register_shutdown_function(function() {
    $s = new Scheduler;
    // no coroutine can wait here
    $s->newTask((function() { echo "a step\n"; yield; echo "another step\n"; })());
    $s->newTask((function() { yield Async\timeout(600_000); })());
    try {
        $s->run();
    } catch (Async\AsyncException $e) {
        echo said($e), "\n";
    }
});
$s = new Scheduler;
$s->newTask((function() { try { yield; Async\currentCoroutine()->cancel(); yield; yield; } finally { echo "finally\n"; throw new LogicException('at the end'); } })());
try {
    $s->run();
} catch (Async\CancellationException) {
    echo "left\n";
}
?>
--EXPECTF--
left
a step
another step
Async\AsyncException: Cannot await here: the coroutines have ended, it would never complete
finally

Fatal error: Uncaught LogicException: at the end in %s:18
Stack trace:
#0 [internal function]: {closure%S}()
#1 {main}
  thrown in %s on line 18
