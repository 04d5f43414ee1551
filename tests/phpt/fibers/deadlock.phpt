--TEST--
A scheduler that waits for what never happens
--FILE--
<?php
require __DIR__ . '/loop.inc';

print_reports();
final class W implements FiberScheduler { public ?Fiber $f; public function run(): void { (new Async\Channel)->recv(); } }
$w = new W;
try { Fiber::suspend(function($f) use ($w) { $w->f = $f; }, $w); } catch (Async\DeadlockError $e) { echo get_class($e), "\n"; }
echo "goes on\n";
?>
--EXPECTF--

Warning: Deadlock: coroutine #1 (the script itself) is suspended at %sdeadlock.php:7 and waits for a scheduler in %sdeadlock.php on line 7
Async\DeadlockError
goes on
reported: Async\DeadlockError: Deadlock: a coroutine waits for what can never happen
