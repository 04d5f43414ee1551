--TEST--
Each coroutine that uses a PooledPDO has a connection of its own for as long as it holds a statement or a transaction
--EXTENSIONS--
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{AsyncException, PooledPDO, Pool};
use function Async\{await, awaitAll, delay, spawn, suspend};

T\work_in();
T\without_deprecations();
$db = new PooledPDO('sqlite:db', max: 3);
$number = 0;
$db->sqliteCreateFunction('wait', function($x) { suspend(); return $x; });
$db->exec('create table t(a integer primary key, b text)');
$active = fn() => [$db->pool->activeCount(), count($db->pool)];
T\check('nothing is held', $active() === [0, 1], $active());

// A statement holds it, and so does what refers to the statement.
$statement = $db->query("select 1 union select 2 union select 3");
T\check('a statement', $active() === [1, 1]);
$rows = $statement->getIterator();
$statement = null;
T\check('its iterator', $active() === [1, 1]);
$rows = null;
T\check('the last reference', $active() === [0, 1]);

// Calls at once: as many connections as there are, and nobody gets another's result.
$all = [];
for ($i = 0; $i < 50; $i++) $all[] = spawn(fn() => $db->query("select wait($i) + wait(0)")->fetchColumn());
T\check('each has its own result', array_map('intval', awaitAll($all)) === range(0, 49));
T\check('three connections', $active() === [0, 3], $active());

// Transactions.
$db->beginTransaction();
$db->exec("insert into t(b) values ('main')");
T\check('a transaction holds it', $active() === [1, 3] && $db->inTransaction());
$other = spawn(fn() => [$db->inTransaction(), $db->query('select count(*) from t')->fetchColumn()]);
T\check('others are outside of it', array_map('intval', await($other)) === [0, 0]);
$db->commit();
T\check('committed', $active() === [0, 3] && await(spawn(fn() => (int) $db->query('select count(*) from t')->fetchColumn())) === 1);
await(spawn(function() use ($db) { $db->beginTransaction(); $db->exec('delete from t'); }));
T\check('the end of a coroutine rolls back', $active() === [0, 3] && (int) $db->query('select count(*) from t')->fetchColumn() === 1, $active());
T\failure(spawn(function() use ($db) { $db->exec('begin immediate'); $db->exec('delete from t'); throw new LogicException; }));
T\check('also one begun by a statement', (int) $db->query('select count(*) from t')->fetchColumn() === 1 && $db->exec("insert into t(b) values ('x')") === 1);
$cancelled = spawn(function() use ($db) { $db->beginTransaction(); $db->exec('delete from t'); delay(100000); });
T\begun($cancelled);
$cancelled->cancel();
T\failure($cancelled);
T\check('and a cancelled one', (int) $db->query('select count(*) from t')->fetchColumn() === 2 && $db->exec("insert into t(b) values ('y')") === 1);

$before = count($db->pool);
$cancelled = spawn(function() use ($db) { $statement = $db->query('select 1'); delay(100000); });
T\begun($cancelled);
$cancelled->cancel();
T\failure($cancelled);
T\check('a connection that a cancelled one had is closed', count($db->pool) === $before - 1, [$before, count($db->pool)]);
awaitAll(array_map(fn() => spawn(fn() => $db->query('select wait(1)')->fetchColumn()), range(1, 9)));

// A coroutine that waits for a connection is cancelled.
$holders = [];
for ($i = 0; $i < 3; $i++) $holders[] = spawn(function() use ($db, &$go) { $s = $db->query('select 1'); while (!$go) suspend(); });
T\begun(...$holders);
$waiting = spawn(fn() => $db->query('select 1'));
T\begun($waiting);
T\check('the wait has a name', $waiting->getAwaitingInfo()['call'] === 'PooledPDO');
$waiting->cancel();
T\check('cancelled', T\failure($waiting) instanceof Async\CancellationException);
$next = spawn(fn() => $db->query('select 5')->fetchColumn());
T\begun($next);
$go = true;
array_map(await(...), $holders);
T\check('the next one gets it', (int) await($next) === 5 && $active()[0] === 0, $active());

// A statement that another coroutine uses after its own has ended.
$statement = await(spawn(fn() => $db->query('select 8 union select 9')));
T\check('passed on', $active()[0] === 1 && array_map('intval', await(spawn(fn() => $statement->fetchAll(PDO::FETCH_COLUMN)))) === [8, 9]);
$statement = null;
T\check('it comes back', $active()[0] === 0);

// What was the last call.
$db->exec("insert into t(b) values ('mine')");
$mine = $db->lastInsertId();
await(spawn(fn() => $db->exec("insert into t(b) values ('theirs')")));
$c = array_map(fn($i) => spawn(function() use ($db, $i) {
    try { $db->query("select no_such_column_$i"); } catch (PDOException) {}
    return str_contains($db->errorInfo()[2], "column_$i");
}), range(1, 9));
T\check('errors are each coroutine\'s own', awaitAll($c) === array_fill(0, 9, true));
try {
    $db->lastInsertId();
    echo "an id\n";
} catch (AsyncException $e) {
    echo preg_replace('~\. .*~', '', $e->getMessage()), "\n";
}
T\check('errorInfo', $db->errorInfo() === ['00000', null, null], $db->errorInfo());
attempt('none yet', fn() => await(spawn(fn() => $db->lastInsertId())));
attempt('the same by a statement', fn() => await(spawn(fn() => $db->query('select last_insert_rowid()'))));
T\check('errorCode of none', await(spawn(fn() => [$db->errorCode(), $db->errorInfo()])) === [null, ['', null, null]]);
T\check('at once it is there', await(spawn(fn() => [$db->exec("insert into t(b) values ('z')"), (int) $db->query('select last_insert_rowid()')->fetchColumn()]))[1] > $mine);

// What changes the connection for good stays with the coroutine.
await(spawn(function() use ($db) {
    $db->exec('pragma case_sensitive_like = 1');
    delay(1);
    T\check('it has it still', (int) $db->query("select 'A' like 'a'")->fetchColumn() === 0);
}));
T\check('nobody else has', array_unique(awaitAll(array_map(fn() => spawn(fn() => (int) $db->query("select wait('A') like 'a'")->fetchColumn()), range(1, 9)))) === [1]);

// Settings are for all.
$db->setAttribute(PDO::ATTR_DEFAULT_FETCH_MODE, PDO::FETCH_NUM);
$db->setAttribute(PDO::ATTR_DEFAULT_FETCH_MODE, PDO::FETCH_ASSOC);
T\check('settings', array_unique(array_map('json_encode', awaitAll(array_map(fn() => spawn(fn() => $db->query("select wait(1) as x")->fetch()), range(1, 9))))) === ['{"x":1}']);

// A pool of connections, and the same for explicit use.
$pool = Pool::pdo('sqlite:db', max: 1);
$connection = $pool->acquire();
T\check('a PDO', $connection instanceof PDO && $pool->tryAcquire() === null);
$connection->beginTransaction();
$connection->exec('delete from t');
$pool->release($connection);
T\check('released in a transaction', !$connection->inTransaction() && (int) $db->query('select count(*) from t')->fetchColumn() > 0);
$connection = null;
$connection = $pool->acquire();
$connection->beginTransaction();
$statement = $connection->query('select 1');
$connection = null;
T\check('held by a statement', $pool->activeCount() === 1);
$statement = null;
T\check('lost in a transaction', $pool->activeCount() === 0 && (int) $db->query('select count(*) from t')->fetchColumn() > 0);
$db->pool->close();
attempt('closed', fn() => $db->query('select 1'));
?>
--EXPECT--
nothing is held: yes
a statement: yes
its iterator: yes
the last reference: yes
each has its own result: yes
three connections: yes
a transaction holds it: yes
others are outside of it: yes
committed: yes
the end of a coroutine rolls back: yes
also one begun by a statement: yes
and a cancelled one: yes
a connection that a cancelled one had is closed: yes
the wait has a name: yes
cancelled: yes
the next one gets it: yes
passed on: yes
it comes back: yes
errors are each coroutine's own: yes
Async\PooledPDO: this asks about the coroutine's last statement, and it has no connection, or another coroutine has used that since
errorInfo: yes
none yet: Async\AsyncException: Async\PooledPDO: this asks about the coroutine's last statement, and it has no connection, or another coroutine has used that since. Begin a transaction, or ask before the coroutine waits for something else
the same by a statement: Async\AsyncException: Async\PooledPDO: this asks about the coroutine's last statement, and it has no connection, or another coroutine has used that since. Begin a transaction, or ask before the coroutine waits for something else
errorCode of none: yes
at once it is there: yes
it has it still: yes
nobody else has: yes
settings: yes
a PDO: yes
released in a transaction: yes
held by a statement: yes
lost in a transaction: yes
closed: Async\AsyncException: The pool is closed
