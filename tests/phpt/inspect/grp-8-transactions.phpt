--TEST--
GRP-8 with async.diagnostics a statement in another coroutine's open transaction is a warning that names both places
--EXTENSIONS--
pdo_sqlite
--INI--
async.diagnostics=1
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/kit.inc';

use Async\Channel;
use function Async\{await, spawn};

set_error_handler(function (int $level, string $message, string $file, int $line): bool {
    echo "$line: ", preg_replace('/coroutine #\d+/', 'coroutine #N', str_replace("$file:", 'line ', $message)), "\n";
    return true;
});
$db = new PDO('sqlite::memory:');
$db->exec('CREATE TABLE t (n INTEGER)');
$insert = $db->prepare('INSERT INTO t VALUES (?)');

/** Begins a transaction, and ends it when others have done something. */
function transact(callable $begin, callable $end, callable $other): void
{
    [$begun, $used] = [new Channel(1), new Channel(1)];
    $owner = spawn(function () use ($begin, $end, $begun, $used) {
        $begin();
        $begun->send(true);
        $used->recv();
        $end();
    });
    $user = spawn(function () use ($other, $begun, $used) {
        $begun->recv();
        $other();
        $other(); // told once a place
        $used->send(true);
    });
    await($owner);
    await($user);
}
transact(fn() => $db->beginTransaction(), fn() => $db->commit(), fn() => $db->exec('INSERT INTO t VALUES (1)'));
transact(fn() => $db->beginTransaction(), fn() => $db->rollBack(), fn() => $insert->execute([2]));
transact(fn() => $db->exec('BEGIN'), fn() => $db->exec('COMMIT'), fn() => $db->query('SELECT 1'));
transact(fn() => $db->query('-- first' . "\n" . '/* so */ begin'), fn() => $db->exec('end'), fn() => $db->query('SELECT 1'));
[$begin, $end] = [$db->prepare('BEGIN'), $db->prepare('ROLLBACK')];
transact(fn() => $begin->execute(), fn() => $end->execute(), fn() => $db->query('SELECT 1'));
transact(fn() => $db->beginTransaction(), fn() => $db->commit(), function () use ($db) {
    try {
        $db->beginTransaction();
    } catch (PDOException $e) {
        echo $e->getMessage(), "\n";
    }
});
echo "none from here\n";
transact(fn() => $db->exec('BEGIN; INSERT INTO t VALUES (7); COMMIT'), fn() => null, fn() => $db->query('SELECT 1'));
$db->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_SILENT);
transact(fn() => $db->exec('BEGIN nothing'), fn() => null, fn() => $db->query('SELECT 1'));
$db->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION);
final class Asks extends PDO { public function inTransaction(): bool { return (bool) $this->query('SELECT 1')->fetchColumn(); } }
$asks = new Asks('sqlite::memory:');
transact(fn() => $asks->beginTransaction(), fn() => $asks->commit(), fn() => null);
transact(fn() => $db->beginTransaction(), fn() => $db->commit(), fn() => null);
transact(fn() => $db->query('SELECT 1'), fn() => null, fn() => $insert->execute([2]));
// The coroutine that has it may do all, and what was ended is ended.
$db->beginTransaction();
$insert->execute([3]);
$db->rollBack();
await(spawn(fn() => $insert->execute([3])));
// Another connection, also at the address of one that is gone.
for ($i = 0; $i < 3; $i++) {
    $other = new PDO('sqlite::memory:');
    $other->beginTransaction();
    $other->exec('CREATE TABLE t (n INTEGER)');
    await(spawn(fn() => $db->exec('INSERT INTO t VALUES (4)')));
    $other = null;
    await(spawn(function () {
        $new = new PDO('sqlite::memory:');
        $new->exec('CREATE TABLE t (n INTEGER)');
    }));
}
ini_set('async.diagnostics', '0');
transact(fn() => $db->beginTransaction(), fn() => $db->commit(), fn() => $db->exec('DELETE FROM t WHERE n = 1'));
echo "an error handler may throw\n";
ini_set('async.diagnostics', '1');
set_error_handler(fn(int $level, string $message) => throw new ErrorException($message));
$db->beginTransaction();
try {
    await(spawn(fn() => $db->exec('INSERT INTO t VALUES (5)')));
} catch (ErrorException $e) {
    echo substr($e->getMessage(), 0, 42), ', ', $db->query('SELECT COUNT(*) FROM t WHERE n = 5')->fetchColumn(), "\n";
}
?>
--EXPECT--
34: A statement on a connection on which coroutine #N has a transaction open, begun at line 34: it becomes part of that. Use a connection for each coroutine, as Async\PooledPDO does
35: A statement on a connection on which coroutine #N has a transaction open, begun at line 35: it becomes part of that. Use a connection for each coroutine, as Async\PooledPDO does
36: A statement on a connection on which coroutine #N has a transaction open, begun at line 36: it becomes part of that. Use a connection for each coroutine, as Async\PooledPDO does
37: A statement on a connection on which coroutine #N has a transaction open, begun at line 37: it becomes part of that. Use a connection for each coroutine, as Async\PooledPDO does
39: A statement on a connection on which coroutine #N has a transaction open, begun at line 39: it becomes part of that. Use a connection for each coroutine, as Async\PooledPDO does
42: A transaction is begun on a connection on which coroutine #N has a transaction open, begun at line 40: a connection has one at a time. Use a connection for each coroutine, as Async\PooledPDO does
There is already an active transaction
There is already an active transaction
none from here
an error handler may throw
A statement on a connection on which corou, 0
