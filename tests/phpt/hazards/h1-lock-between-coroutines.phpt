--TEST--
H1 a coroutine that waits for the database lock of another one of the same process gives way to it
--EXTENSIONS--
pdo_sqlite
--FILE--
<?php
use function Async\spawn;

require __DIR__ . '/kit.inc';
$dir = T\work_in();

$log = [];
$holder = new PDO("sqlite:$dir/db");
$holder->exec('create table t (x)');
$jobs = [spawn(function() use ($holder, &$log) {
    $holder->exec('begin exclusive; insert into t values (1)');
    $log[] = 'locked';
    T\turns(150);
    $log[] = 'unlocks';
    $holder->exec('commit');
})];
T\until(function() use (&$log) { return $log === ['locked']; });
$jobs[] = spawn(function() use ($dir, &$log) {
    $other = new PDO("sqlite:$dir/db", options: [PDO::ATTR_TIMEOUT => 600]);
    $log[] = 'waits';
    $other->exec('insert into t values (2)');
    $log[] = 'written';
    return (int) $other->query('select count(*) from t')->fetchColumn();
});
$jobs[] = spawn(function() use (&$log) { T\turns(60); $log[] = 'a third one runs'; });
echo json_encode(T\all($jobs)), ' ', implode(', ', $log), "\n";
?>
--EXPECT--
[null,2,null] locked, waits, a third one runs, unlocks, written
