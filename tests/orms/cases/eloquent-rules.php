<?php
// needs: php-illuminate-database php-illuminate-events

namespace Orms;

require dirname(__DIR__) . '/eloquent.php';

use Illuminate\Database\Events\TransactionCommitted;
use Spindle\Eloquent\Unopened;

use function Async\await;
use function Async\awaitAll;
use function Async\delay;
use function Async\spawn;

$watcher = watcher();
$rows = static fn () => array_map(intval(...), $watcher->query('select n from done order by n')->fetchAll(\PDO::FETCH_COLUMN));
$manager = manager();
$db = $manager->getConnection();
createTable($watcher);

// Queries are logged by each coroutine for itself, as the first one has said.
$db->enableQueryLog();
$other = spawn(static function () use ($db): array {
    $db->selectOne('select 2');
    delay(2);
    return array_column($db->getQueryLog(), 'query');
});
$db->selectOne('select 1');
same(['select 2'], await($other), 'the log of another coroutine');
same(['select 1'], array_column($db->getQueryLog(), 'query'), 'the own log');
$db->disableQueryLog();
same([], await(spawn(static fn () => $db->selectOne('select 2') ? $db->getQueryLog() : null)), 'a log that was switched off');
await(spawn($db->enableQueryLog(...)));
same(false, $db->logging(), 'a log that another coroutine has switched on');

// So is the prefix of tables.
$sql = static fn (string $prefix) => spawn(static function () use ($db, $prefix): string {
    $prefix === '' || $db->setTablePrefix($prefix);
    delay(2);
    return $db->getTablePrefix() . ' ' . str_replace(['"', '`'], '', $db->table('done')->toSql());
});
same(['a_ select * from a_done', 'b_ select * from b_done', ' select * from done'], awaitAll([$sql('a_'), $sql('b_'), $sql('')]), 'prefixes of coroutines');
$db->setTablePrefix('all_');
same(['all_ select * from all_done', 'c_ select * from c_done'], awaitAll([$sql(''), $sql('c_')]), 'the prefix that the first one has set');
$db->setTablePrefix('');

// What is to be called after a commit waits for that of its coroutine.
$called = [];
$committed = [];
$db->getEventDispatcher()->listen(TransactionCommitted::class, static function ($event) use (&$committed) {
    $committed[] = $event->connection->transactionLevel();
});
$waiting = new \Async\Channel(1);
$go = new \Async\Channel(2);
$after = static function (string $name) use (&$called): \Closure {
    return static function () use ($name, &$called) {
        $called[] = $name;
    };
};
$jobs = [];
foreach (['fails', 'commits'] as $name) {
    $jobs[] = spawn(static function () use ($db, $name, $after, $waiting, $go) {
        try {
            $db->transaction(static function () use ($db, $name, $after, $waiting, $go) {
                $db->afterCommit($after($name));
                $waiting->send(true);
                $go->recv();
                $name === 'fails' && throw new \DomainException();
            });
        } catch (\DomainException) {
        }
    });
    $waiting->recv();
}
$db->transaction(static fn () => $db->afterCommit($after('first')));
same([['first'], [0]], [$called, $committed], 'after the commit of one coroutine');
$go->send(true);
$go->send(true);
array_map(await(...), $jobs);
same([['first', 'commits'], [0, 0]], [$called, $committed], 'after the commits of all');
$db->afterCommit($after('at once'));
same('at once', end($called), 'outside of a transaction');

// Pretending is the coroutine's own.
same(1, count($db->pretend(static function ($db) {
    await(spawn(static fn () => $db->table('done')->insert(['n' => 1])));
    $db->table('done')->insert(['n' => 2]);
})), 'queries that were pretended');
same([1], $rows(), 'rows, of which one was pretended');

// Two connections of the configuration are two, also in one coroutine; so are two objects.
createTable($watcher);
$manager->addConnection(array_diff_key($db->getConfig(), ['name' => true]), 'log');
same([$db->getConfig('host'), 'log'], [$manager->getConnection('log')->getConfig('host'), $manager->getConnection('log')->getName()], 'the other connection');
$db->beginTransaction();
$db->table('done')->insert(['n' => 1]);
$manager->getConnection('log')->table('done')->insert(['n' => 2]);
manager()->getConnection()->table('done')->insert(['n' => 3]);
$db->rollBack();
same([2, 3], $rows(), 'rows of three connections');

// Each coroutine has them in its own order.
createTable($watcher);
await(spawn(static function () use ($db, $manager) {
    $log = $manager->getConnection('log');
    $log->beginTransaction();
    $log->table('done')->insert(['n' => 1]);
    $db->table('done')->insert(['n' => 2]);
    $log->rollBack();
}));
same([2], $rows(), 'rows of connections in another order');

// What one does with its connection is not done to those of others.
createTable($watcher);
$db->beginTransaction();
await(spawn(static function () use ($db) {
    $db->disconnect();
    $db->table('done')->insert(['n' => 1]);
    $db->useWriteConnectionWhenReading();
    $db->disconnect();
}));
$db->table('done')->insert(['n' => 2]);
same([1, [1]], [$db->transactionLevel(), $rows()], 'a transaction, while another coroutine disconnects');
$db->commit();

// The end of a connection ends its transaction.
createTable($watcher);
$db->beginTransaction();
$db->table('done')->insert(['n' => 1]);
$db->disconnect();
same(0, $db->transactionLevel(), 'level after disconnect()');
$db->table('done')->insert(['n' => 2]);
$db->beginTransaction();
$db->table('done')->insert(['n' => 3]);
$manager->getDatabaseManager()->purge();
$db = $manager->getConnection();
$db->table('done')->insert(['n' => 4]);
same([2, 4], $rows(), 'rows after the end of connections');

// Each connection of the pool has the settings of the configuration, and none is held because of them.
$ask = KIND === 'pgsql' ? "select current_setting('timezone') || ' ' || current_setting('search_path') || ' ' || current_setting('application_name') || ' '
        || current_setting('transaction_isolation') || ' ' || current_setting('client_encoding') as a, pg_backend_pid() as c"
    : "select concat(@@time_zone, ' ', @@sql_mode like '%STRICT%', ' ', @@tx_isolation, ' ', @@collation_connection, ' ', database()) as a, connection_id() as c";
$settings = KIND === 'pgsql' ? ['timezone' => 'Asia/Kathmandu', 'search_path' => ['odd schema', 'public'], 'schema' => ['odd schema', 'public'],
    'application_name' => 'one of many', 'isolation_level' => 'repeatable read'] : ['timezone' => '+05:45', 'isolation_level' => 'READ COMMITTED', 'collation' => 'utf8mb4_bin'];
$expected = KIND === 'pgsql' ? 'Asia/Kathmandu "odd schema", "public" one of many repeatable read UTF8' : '+05:45 1 READ-COMMITTED utf8mb4_bin ' . server()[4];
$one = manager($settings)->getConnection();
$found = awaitAll(array_map(static fn () => spawn(static fn () => $one->transaction(static function () use ($one, $ask) {
    $row = $one->selectOne($ask);
    delay(5);
    return [$row->a, $row->c];
})), range(1, 8)));
same([$expected], array_values(array_unique(array_column($found, 0))), 'settings');
same(MAX, count(array_unique(array_column($found, 1))), 'connections with these settings');
same(0, $one->getPdo()->pool->activeCount(), 'connections in use');

// A connector that is used by itself opens a connection of its own, with the same settings.
$connector = (new \Illuminate\Database\Connectors\ConnectionFactory($manager->getContainer()))->createConnector($one->getConfig());
$alone = $connector->connect($one->getConfig());
// PostgreSQL writes the names as it reads them then.
same([\PDO::class, str_replace('"public"', 'public', $expected)], [$alone::class, $alone->query($ask)->fetch()['a']], 'a connector by itself');

// What the server could not do for each connection is refused.
try {
    $unopened = new Unopened(KIND . ':host=nowhere', '', '', []);
    $unopened->exec('create temporary table t (n int)');
    $unopened->withSettings();
    same('a refusal', '', 'a statement that is no setting');
} catch (\LogicException $e) {
    same(true, str_contains($e->getMessage(), 'create temporary table'), $e->getMessage());
}

// A server that cannot be reached is the exception that it always is.
try {
    manager(['port' => 1])->getConnection()->selectOne('select 1');
    same('an exception', '', 'no server');
} catch (\Illuminate\Database\QueryException) {
}

// A reader and a writer: what the writer has written is read in the transaction, and each coroutine has both.
createTable($watcher);
$zones = ['read' => [['timezone' => KIND === 'pgsql' ? 'Asia/Tokyo' : '+09:00']], 'timezone' => KIND === 'pgsql' ? 'Asia/Kathmandu' : '+05:45'];
$both = static fn () => manager($zones + ['write' => ['sticky' => true]])->getConnection();
$ask = 'select ' . (KIND === 'pgsql' ? "current_setting('timezone')" : '@@time_zone') . ' as z, (select count(*) from done) as n';
$split = $both();
$of = static fn ($db) => array_map(strval(...), array_values((array) $db->selectOne($ask)));
[$reader, $writer] = [$zones['read'][0]['timezone'], $zones['timezone']];
same([$reader, '0'], $of($split), 'the reader');
$split->transaction(static function () use ($split, $of, $reader, $writer) {
    $split->table('done')->insert(['n' => 1]);
    same([$writer, '1'], $of($split), 'the writer, in a transaction');
    await(spawn(static fn () => same([[$reader, '0'], false], [$of($split), $split->hasModifiedRecords()], 'the reader of another coroutine')));
});
same([$writer, '1'], $of($split), 'the writer, where the reader may be late');
await(spawn(static function () use ($split, $of, $both, $reader) {
    same([$reader, '1'], $of($split), 'the reader of another coroutine, after the commit');
    same(true, $split->getReadPdo() instanceof \Async\PooledPDO, 'the reader is of a pool');
}));
await(spawn(static function () use ($split, $of, $writer) {
    $split->useWriteConnectionWhenReading();
    same([$writer, '1'], $of($split), 'the writer, of a coroutine that wants it');
}));
await(spawn(static fn () => same([$reader, '1'], $of($split), 'the reader, of another one')));
// A coroutine that has another object first has another reader for this one: that of the first is in a transaction.
await(spawn(static function () use ($split, $of, $both, $reader) {
    $other = $both();
    $other->getReadPdo()->beginTransaction();
    $other->getReadPdo()->exec('insert into done values (2)');
    same([$reader, '1'], $of($split), 'the reader of the second object');
}));

// After the last coroutine, too.
createTable($watcher);
$db->beginTransaction();
register_shutdown_function(static function () use ($db, $rows): void {
    same(0, $db->transactionLevel(), 'level in a shutdown function');
    $db->transaction(static fn () => $db->table('done')->insert(['n' => 1]));
    same([1], $rows(), 'rows of a shutdown function');
});
