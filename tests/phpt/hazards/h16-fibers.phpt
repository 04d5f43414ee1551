--TEST--
H16 what a call uses is busy while a fiber is suspended in a callback of it, and its coroutine goes on
--EXTENSIONS--
sqlite3
--FILE--
<?php
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';

$db = new SQLite3(':memory:');
$db->createFunction('pause', fn() => Fiber::suspend() ?? 7);
$goes_on = false;
$one = spawn(function() use ($db, &$goes_on) {
    $fiber = new Fiber(fn() => $db->querySingle('select pause()'));
    $fiber->start();
    while (!$goes_on) suspend();
    $fiber->resume();
    return $fiber->getReturn();
});
T\begun($one);
$other = spawn(fn() => $db->querySingle('select 1'));
T\begun($other);
T\check('another coroutine waits', $other->getAwaitingInfo()['call'] === 'locked handle', $other->getAwaitingInfo());
$goes_on = true;
echo await($one), ' ', await($other), "\n";
?>
--EXPECT--
another coroutine waits: yes
7 1
