--TEST--
A fatal error in a task, with run() in the main coroutine
--FILE--
<?php
use Async\Task\Scheduler;

require __DIR__ . '/kit.inc';

register_shutdown_function(function() { echo "shutdown function\n"; });
$s = new Scheduler;
$s->newTask((function() { try { yield; yield; echo "WRONG: goes on\n"; } finally { echo "WRONG: finally\n"; } })());
$s->newTask((function() { yield (function() { yield; eval('class Exception {}'); })(); echo "WRONG: goes on\n"; })());
$s->newTask((function() { yield Async\timeout(600_000); echo "WRONG: goes on\n"; })());
$s->run();
echo "WRONG: goes on\n";
?>
--EXPECTF--

Fatal error: %r(Cannot declare class Exception, because the name is already in use|Cannot redeclare class Exception)%r in %s(9) : eval()'d code on line 1
shutdown function
