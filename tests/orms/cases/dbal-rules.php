<?php
// needs: php-doctrine-dbal

namespace Orms;

require dirname(__DIR__) . '/doctrine.php';

use Async\PooledPDO;
use Doctrine\DBAL\Configuration;
use Doctrine\DBAL\DriverManager;
use Doctrine\DBAL\Logging\Middleware;
use Psr\Log\AbstractLogger;
use Spindle\Pooled\Pools;

use function Async\await;
use function Async\awaitAll;
use function Async\delay;
use function Async\spawn;

$watcher = watcher();
$rows = static fn () => array_map(intval(...), $watcher->query('select n from done order by n')->fetchAll(\PDO::FETCH_COLUMN));
$pools = static fn () => count((fn () => $this->pools)->call(Pools::all()));

// Two objects of one coroutine are in two transactions, those of two coroutines share a pool.
createTable($watcher);
[$one, $two] = [connection(), connection()];
$one->beginTransaction();
$one->insert('done', ['n' => 1]);
$two->insert('done', ['n' => 2]);
$one->rollBack();
same([2], $rows(), 'rows of two objects');
same(2, $pools(), 'pools of two objects');
await(spawn(static fn () => $two->insert('done', ['n' => 3])));
same(2, $pools(), 'pools of two objects, of which one is used by another coroutine');
$two = null;
connection()->insert('done', ['n' => 4]);
same(2, $pools(), 'pools, when an object was replaced');

// An object that is gone has left a transaction.
createTable($watcher);
await(spawn(static function () {
    $lost = connection();
    $lost->beginTransaction();
    $lost->insert('done', ['n' => 1]);
    $lost = null;
    gc_collect_cycles();
    connection()->insert('done', ['n' => 2]);
}));
same([2], $rows(), 'rows of an object that is gone');

// What one coroutine sets is not set for others; what the first one sets is what others begin with.
createTable($watcher);
$db = connection();
$go = new \Async\Channel(1);
$other = spawn(static function () use ($db, $go) {
    $db->setAutoCommit(false);
    $db->insert('done', ['n' => 1]);
    same([false, 1], [$db->isAutoCommit(), $db->getTransactionNestingLevel()], 'autocommit of the coroutine');
    $db->commit();
    $db->insert('done', ['n' => 2]);
    $db->setRollbackOnly();
    $go->recv();
    same(true, $db->isRollbackOnly(), 'rollback only');
});
while (!$go->isEmpty() || $rows() !== [1]) {
    delay(1);
}
same([true, 0], [$db->isAutoCommit(), $db->getTransactionNestingLevel()], 'autocommit of the others');
$db->transactional(static fn () => same(false, $db->isRollbackOnly(), 'rollback only of the others'));
$go->send(true);
await($other);
same([1], $rows(), 'rows of a transaction that autocommit has begun');
$db->setAutoCommit(false);
await(spawn(static fn () => same(false, $db->isAutoCommit(), 'autocommit of later coroutines')));

// The end of a connection ends its transaction.
createTable($watcher);
$db = connection();
$db->beginTransaction();
$db->insert('done', ['n' => 1]);
$db->close();
same([false, 0], [$db->isConnected(), $db->getTransactionNestingLevel()], 'after close()');
$db->insert('done', ['n' => 2]);
same([2], $rows(), 'rows after close()');

// A coroutine has its connection no longer than it needs it: nothing that was set when it was opened holds it.
$pool = $db->getNativeConnection();
same([true, 0], [$pool instanceof PooledPDO, $pool->pool->activeCount()], 'connections in use');
$ask = KIND === 'pgsql' ? 'show client_encoding' : 'select @@character_set_client';
same(KIND === 'pgsql' ? 'LATIN2' : 'latin2', connection(['charset' => 'latin2'])->fetchOne($ask), 'charset');

// A pool that is given, for one object.
[$host, $port, $user, $password, $name] = server();
$given = new PooledPDO(KIND . ":host=$host;port=$port;dbname=$name", $user, $password, max: 2);
$db = connection(['driverOptions' => ['pool' => $given]]);
same([1, $given], [(int) $db->fetchOne('select 1'), $db->getNativeConnection()], 'a pool that is given');
foreach (['Two connection objects in one coroutine' => $given, 'The pool of a connection has no setting "size"' => ['size' => 3]] as $message => $pool) {
    try {
        connection(['driverOptions' => ['pool' => $pool]])->fetchOne('select 1');
        same($message, '', 'refusal');
    } catch (\LogicException $e) {
        same(true, str_starts_with($e->getMessage(), $message), $e->getMessage());
    }
}

// Middlewares are called.
$logger = new class extends AbstractLogger {
    public array $lines = [];

    public function log($level, $message, array $context = []): void
    {
        $this->lines[] = $context['sql'] ?? strtr((string) $message, ['{params}' => '']);
    }
};
$configuration = new Configuration();
$configuration->setMiddlewares([new Middleware($logger)]);
connection([], $configuration)->transactional(static fn ($db) => $db->fetchOne('select 6'));
same(true, in_array('select 6', $logger->lines, true) && in_array('Beginning transaction', $logger->lines, true), json_encode($logger->lines));

// Drivers that have no pool: a connection for each coroutine.
$file = tempnam(sys_get_temp_dir(), 'orms');
$db = DriverManager::getConnection(['driver' => 'pdo_sqlite', 'path' => $file, 'wrapperClass' => \Spindle\Doctrine\Connection::class]);
$db->executeStatement('create table done (n int)');
$db->beginTransaction();
await(spawn(static function () use ($db) {
    same([0, 0], [$db->getTransactionNestingLevel(), (int) $db->fetchOne('select count(*) from done')], 'SQLite in another coroutine');
}));
$db->insert('done', ['n' => 1]);
$db->commit();
same(1, (int) $db->fetchOne('select count(*) from done'), 'rows in SQLite');
unlink($file);
$db = DriverManager::getConnection(['driver' => 'pdo_sqlite', 'memory' => true, 'wrapperClass' => \Spindle\Doctrine\Connection::class]);
$db->executeStatement('create table done (n int)');
same(0, (int) $db->fetchOne('select count(*) from done'), 'a database in memory');
try {
    await(spawn(static fn () => $db->fetchOne('select count(*) from done')));
    same('a refusal', '', 'a database in memory, of two coroutines');
} catch (\LogicException $e) {
    same(true, str_contains($e->getMessage(), 'use a file'), $e->getMessage());
}

// Coroutines that each have an object of their own share a pool, too.
$before = $pools();
awaitAll(array_map(static fn () => spawn(static fn () => connection()->transactional(static fn ($db) => $db->fetchOne('select 1'))), range(1, 20)));
same($before, $pools(), 'pools of 20 objects');

// A server that cannot be reached is the exception that it always is.
try {
    connection(['port' => 1])->fetchOne('select 1');
    same('an exception', '', 'no server');
} catch (\Doctrine\DBAL\Exception\ConnectionException) {
}

// After the last coroutine, too.
createTable($watcher);
$db = connection();
$db->beginTransaction();
register_shutdown_function(static function () use ($db, $rows): void {
    same(0, $db->getTransactionNestingLevel(), 'level in a shutdown function');
    $db->transactional(static fn () => $db->insert('done', ['n' => 1]));
    same([1], $rows(), 'rows of a shutdown function');
});
