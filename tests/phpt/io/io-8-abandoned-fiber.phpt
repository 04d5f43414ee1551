--TEST--
IO-8 a coroutine that ends keeps no handle, also if a fiber that it leaves behind is suspended in a call on it
--EXTENSIONS--
sqlite3
--FILE--
<?php
use function Async\{await, spawn};

require __DIR__ . '/kit.inc';

$db = new SQLite3(':memory:');
$db->createFunction('pause', fn() => Fiber::suspend() ?? 7);
$fiber = new Fiber(fn() => $db->querySingle('select pause()'));
$leaves = spawn(fn() => $fiber->start());
$comes = spawn(fn() => [await($leaves), $db->querySingle('select 1')]);
echo await($comes, Async\timeout(60_000))[1], "\n";
$fiber->resume();
echo $fiber->getReturn(), "\n";
?>
--EXPECT--
1
7
