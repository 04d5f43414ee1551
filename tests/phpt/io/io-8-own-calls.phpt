--TEST--
IO-8 a callback of a call uses the handle of that call, which is its own coroutine's, also after it was suspended
--EXTENSIONS--
sqlite3
--FILE--
<?php
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';

$db = new SQLite3(':memory:');
$db->exec('create table t (x); insert into t values (5)');
$db->createFunction('next', function($x) use ($db) {
    suspend();
    return $db->querySingle("select x + $x from t");
});
$jobs = [];
for ($i = 0; $i < 3; $i++) $jobs[] = spawn(fn() => $db->querySingle("select next($i) + next(10)"));
echo implode(' ', T\all($jobs)), "\n";
?>
--EXPECT--
20 21 22
