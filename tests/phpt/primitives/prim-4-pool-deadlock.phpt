--TEST--
A deadlock through a pool names the wait and the coroutines that hold things; getAwaitingInfo() does, too
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\Pool;
use function Async\{await, spawn, suspend};

$pool = new Pool(fn() => new stdClass, max: 1);
$holder = spawn(function() use ($pool, &$waiter) { $thing = $pool->acquire(); while (!$waiter) suspend(); await($waiter); });
T\begun($holder);
$waiter = spawn(fn() => $pool->acquire());
waiting($holder, $waiter);
['call' => $call, 'coroutines' => $of] = $waiter->getAwaitingInfo();
echo $call, ' ', json_encode($of), "\n";
set_error_handler(function(int $level, string $text) { echo preg_replace('~ at \S+| in \S+$|\(spawned at \S+\) ~', '', $text), "\n"; return true; });
foreach ([$waiter, $holder] as $coroutine) echo said(T\failure($coroutine)), "\n";
?>
--EXPECTF--
Pool::acquire [2]
%ADeadlock: coroutine #3 %A waits for Pool::acquire() of coroutine #2%A
Async\DeadlockError: Deadlock: 3 coroutines wait for what can never happen
Async\DeadlockError: Deadlock: 3 coroutines wait for what can never happen
%A
