<?php

/** The pools that Doctrine and Eloquent use, where there are many of them: a database for each tenant. */

// needs: php-illuminate-database php-illuminate-events php-doctrine-dbal

namespace Orms;

require dirname(__DIR__) . '/eloquent.php';
require_once 'Doctrine/DBAL/autoload.php';

use Doctrine\DBAL\DriverManager;
use Spindle\Pooled\Pools;

use function Async\await;
use function Async\spawn;

const TENANTS = 40;
/** How many pools are kept, each with one connection here. */
const KEPT = 32;

$manager = manager();
$configuration = $manager->getContainer()['config']['database.connections']['default'];
$number = static fn ($db) => (int) current((array) $db->selectOne(NUMBER_OF_CONNECTION[KIND] . ' as n'));
/** Connects for a tenant, as applications do, and returns the number of its connection. */
$tenant = static function (int $n) use ($manager, $configuration, $number): int {
    $manager->addConnection(['pool' => ['max' => 3 + $n]] + $configuration, 'tenant');
    $of = $number($manager->getConnection('tenant'));
    $manager->getDatabaseManager()->purge('tenant');
    return $of;
};
/** Waits until there are this many connections: pools close theirs by and by. */
$opened = static function (int $expected, string $what): void {
    for ($end = hrtime(true) + 30e9; connections() !== $expected && hrtime(true) < $end; usleep(1000));
    same($expected, connections(), $what);
};

// A coroutine that has used many has no more than are kept, and in its transactions those that it is in.
$first = $manager->getConnection();
$first->beginTransaction();
$of_first = $number($first);
for ($n = 1; $n <= TENANTS; $n++) {
    $last = $tenant($n);
}
$opened(KEPT + 1, 'connections, and one in a transaction');
same([1, $of_first], [$first->transactionLevel(), $number($first)], 'the one in the transaction');
same($last, $tenant(TENANTS), 'the last one again');

// A pool that is not kept, but used, is what other coroutines get: there are never two.
$pool = $first->getPdo();
same(true, await(spawn(static fn () => $first->getPdo() === $pool)), 'the pool in another coroutine');
$first->rollBack();
$opened(KEPT, 'connections without a transaction');
unset($pool);

// Those that other coroutines have used do not stay longer than they.
await(spawn(static function () use ($tenant): void {
    for ($n = TENANTS; $n < 2 * TENANTS; $n++) {
        $tenant($n);
    }
}));
$opened(KEPT + 1, 'connections after another coroutine, with the one that this coroutine has');

// As with Doctrine, where a connection is closed, or there no more.
[$host, $port, $user, $password, $name] = server();
for ($n = 0; $n < TENANTS; $n++) {
    $db = DriverManager::getConnection(['driver' => 'pdo_' . KIND, 'host' => $host, 'port' => (int) $port, 'user' => $user, 'password' => $password, 'dbname' => $name,
        'wrapperClass' => \Spindle\Doctrine\Connection::class, 'driverOptions' => ['pool' => ['max' => 3 + $n]]]);
    $db->fetchOne(NUMBER_OF_CONNECTION[KIND]);
    $n % 2 === 0 && $db->close();
    unset($db);
}
gc_collect_cycles(); // as without a pool
$opened(KEPT + 1, 'connections of Doctrine');
