--TEST--
exit in a task, with run() in the main coroutine
--FILE--
<?php
use Async\Task\Scheduler;

require __DIR__ . '/kit.inc';

register_shutdown_function(function() { echo "shutdown function\n"; });
$s = new Scheduler;
$s->newTask((function() { yield; yield; echo "WRONG: goes on\n"; })());
$s->newTask((function() { yield (function() { yield; echo "exits\n"; exit(0); })(); echo "WRONG: goes on\n"; })());
$s->newTask((function() { yield Async\timeout(600_000); echo "WRONG: goes on\n"; })());
$s->run();
echo "WRONG: goes on\n";
?>
--EXPECT--
exits
shutdown function
