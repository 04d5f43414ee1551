--TEST--
A statement of a pooled connection runs on that connection alone, and in no transaction of another coroutine
--EXTENSIONS--
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{PooledPDO, Pool};
use function Async\{await, spawn, suspend};

T\work_in();
T\without_deprecations();
$db = new PooledPDO('sqlite:db', max: 3);
$log = [];
$db->sqliteCreateFunction('note', function($x) use (&$log) {
    $log[] = "$x begins";
    for ($i = 0; $i < 9; $i++) suspend();
    $log[] = "$x ends";
    return $x;
});
$db->exec('create table t(a)');
$counts = fn() => [count($db->pool), $db->pool->idleCount(), $db->pool->activeCount()];

// Calls on a statement and on its connection follow one another.
$statement = $db->prepare("select note('statement')");
$other = spawn(fn() => $statement->execute());
$db->query("select note('query')");
await($other);
T\check('one call at a time', $log === ['query begins', 'query ends', 'statement begins', 'statement ends'], $log);
$statement = null;
T\check('given back', $counts() === [1, 1, 0], $counts());

// Passed on to another coroutine.
$insert = await(spawn(fn() => $db->prepare('insert into t values (?)')));
T\check('outside of transactions', $insert->execute([1]) && $insert->rowCount() === 1);
$db->beginTransaction();
attempt('in a transaction on another connection', fn() => $insert->execute([2]));
$own = $db->prepare('insert into t values (3)');
T\check('its own', $own->execute());
attempt('in the transaction of another coroutine', fn() => await(spawn(fn() => $own->execute())));
$db->rollBack();
T\check('after it', $insert->execute([4]) && await(spawn(fn() => $own->execute())));
$insert = $own = null;
$rows = $db->query('select a from t')->fetchAll(PDO::FETCH_COLUMN);
sort($rows);
T\check('rows', array_map('intval', $rows) === [1, 3, 4], $rows);
T\check('all given back', $counts() === [2, 2, 0], $counts());

// A connection that is released while there is a statement.
$pool = Pool::pdo('sqlite:db', max: 1);
$connection = $pool->acquire();
$statement = $connection->prepare('insert into t values (5)');
$pool->release($connection);
T\check('set aside', count($pool) === 0 && $pool->acquire() !== $connection && $statement->execute());
$statement = $pool = $connection = null;
$pool = Pool::pdo('sqlite:db', max: 1);
$statement = $pool->with(fn(PDO $db) => $db->query('select 6 union select 7'));
T\check('by with()', count($pool) === 0 && (int) $statement->fetchColumn() === 6);
$id = $pool->with(fn(PDO $db) => [spl_object_id($db), $db->query('select 1')->fetchColumn()][0]);
T\check('without one it is lent again', count($pool) === 1 && $pool->with(spl_object_id(...)) === $id);

// A statement of garbage that its destructor keeps.
final class Saver
{
    public $statement, $a;
    public function __destruct() { $GLOBALS['saved'] = $this->statement; }
}
$two = function () use ($db): array {
    $connections = [$db->pool->acquire(), $db->pool->acquire()];
    array_map($db->pool->release(...), $connections);
    return [array_map(spl_object_id(...), $connections), $connections];
};
$before = $two()[0];
$saver = new Saver;
$saver->statement = $db->query('select 8 as a union select 9 as a');
$saver->statement->setFetchMode(PDO::FETCH_INTO, $saver);
$saver = null;
gc_collect_cycles();
// Some releases of PHP do not collect it, and PHP 8.4 ends the use of the connection first.
T\check('collected', !isset($saved) || $saved->fetch() !== false, $counts());
[$ids, $connections] = $two();
T\check('not lent', count(array_intersect($ids, $before)) === 1, [$ids, $before]);
$connections = $saved = null;
gc_collect_cycles();
T\check('and lent again', $db->query('select 1')->fetchColumn() == 1 && $counts()[0] <= 3, $counts());
$db = new PooledPDO('sqlite:db', max: 3);

// A transaction that cannot be begun, without an exception: the coroutine keeps the connection until it ends that.
$db->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_SILENT);
$db->setAttribute(PDO::ATTR_TIMEOUT, 0);
$locks = new PDO('sqlite:db');
$locks->exec('begin immediate');
T\check('not begun', $db->exec('begin immediate') === false && $db->pool->activeCount() === 1, $counts());
T\check('nor written', $db->exec('insert into t values (10)') === false && $db->pool->activeCount() === 1);
T\check('ended', $db->exec('rollback') === false && $db->pool->activeCount() === 0, $counts());
$locks->exec('rollback');
T\check('written', $db->exec('insert into t values (11)') === 1);
?>
--EXPECT--
one call at a time: yes
given back: yes
outside of transactions: yes
in a transaction on another connection: Async\AsyncException: The statement belongs to the connection of another coroutine, and would run outside of this one's transaction, or in that one's. Prepare it in the coroutine that executes it
its own: yes
in the transaction of another coroutine: Async\AsyncException: The statement belongs to the connection of another coroutine, and would run outside of this one's transaction, or in that one's. Prepare it in the coroutine that executes it
after it: yes
rows: yes
all given back: yes
set aside: yes
by with(): yes
without one it is lent again: yes
collected: yes
not lent: yes
and lent again: yes
not begun: yes
nor written: yes
ended: yes
written: yes
