--TEST--
GRP-1 the block of a group uses the connection and the transaction of its caller; what it spawns does not
--EXTENSIONS--
pdo_sqlite
--INI--
async.diagnostics=1
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\PooledPDO;
use function Async\{await, group, spawn, withTimeout};

T\work_in();
$db = new PooledPDO('sqlite:test.db', max: 3);
$db->exec('CREATE TABLE t (n INTEGER)');
$db->beginTransaction();
withTimeout(100_000, fn() => group(fn() => $db->exec('INSERT INTO t VALUES (1)')));
echo 'in the block: ', group(fn() => json_encode([$db->inTransaction(), (int) $db->query('SELECT COUNT(*) FROM t')->fetchColumn()])), "\n";
echo 'in what it has spawned: ', group(fn() => json_encode(await(spawn(fn() => $db->inTransaction())))), "\n";
$db->rollBack();
echo 'rolled back: ', $db->query('SELECT COUNT(*) FROM t')->fetchColumn(), "\n";

// one connection for all: the caller's own transaction is no other coroutine's
$warnings = 0;
set_error_handler(function() use (&$warnings) { $warnings++; });
$one = new PDO('sqlite::memory:');
$one->exec('CREATE TABLE t (n INTEGER)');
$one->beginTransaction();
group(fn() => $one->exec('INSERT INTO t VALUES (1)'));
echo "in the block: $warnings warnings\n";
await(spawn(fn() => $one->exec('INSERT INTO t VALUES (2)')));
echo "in another coroutine: $warnings\n";
?>
--EXPECT--
in the block: [true,1]
in what it has spawned: false
rolled back: 0
in the block: 0 warnings
in another coroutine: 1
