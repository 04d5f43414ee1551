--TEST--
CORO-7 BottomUp, its body over and its children not: not completed, and what it waits for has names
--INI--
async.lifetime=bottom-up
--FILE--
<?php
use function Async\{await, delay, getCoroutines, spawn, suspend};

require __DIR__ . '/kit.inc';

$gate = false;
$parent = spawn(function() use (&$gate, &$children) {
    foreach ([1, 2] as $_) {
        $children[] = spawn(function() use (&$gate) { while (!$gate) suspend(); });
    }
    return 'result';
});
T\begun(...[$parent]);
while (!$children || !$children[1]->isStarted()) suspend();
$info = $parent->getAwaitingInfo();
var_dump($parent->isCompleted(), $parent->isSuspended(), $parent->getResult(), $parent->getException());
var_dump($info['call'], $info['coroutines'] === array_map(fn($c) => $c->getId(), $children));
$gate = true;
var_dump(await($parent), $parent->getResult(), $parent->getAwaitingInfo());

// equal only to themselves
$objects = [spawn(fn() => 1), spawn(fn() => 1), new Async\Scope, new Async\Scope, new Async\BoundedScope, new Async\CoroutineGroup,
    new Async\CoroutineGroup, Async\timeout(1), Async\timeout(1), Async\localContext(), new Async\Key('k'), new Async\Key('k')];
foreach ($objects as $n => $object) {
    echo implode(array_map(fn($other) => (int) ($object == $other), $objects)) === str_pad(str_repeat('0', $n) . '1', count($objects), '0') ? '.' : "EQUAL $n";
}
echo "\n";

echo preg_replace('~/\S+/spindle-phpt-\w+~', 'FILE', T\php('use function Async\{await, spawn};
$p = spawn(function() use (&$p) { spawn(function() use (&$p) { await($p); }); });', '-d async.lifetime=bottom-up -d display_errors=1 -d log_errors=0')), "\n";
?>
--EXPECT--
bool(false)
bool(false)
NULL
NULL
string(8) "children"
bool(true)
string(6) "result"
string(6) "result"
array(0) {
}
............
[255] 
Warning: Deadlock: coroutine #1 (the script itself) has ended and waits for coroutine #2 in FILE on line 3

Warning: Deadlock: coroutine #2 (spawned at FILE:3) has ended and waits for coroutine #3 in FILE on line 3

Warning: Deadlock: coroutine #3 (spawned at FILE:3) is suspended at FILE:3 and waits for await() of coroutine #2 in FILE on line 3

Fatal error: Uncaught Async\DeadlockError: Deadlock: a coroutine waits for what can never happen in FILE:3
Stack trace:
#0 {main}
  thrown in FILE on line 3

