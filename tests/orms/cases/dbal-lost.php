<?php
// needs: php-doctrine-dbal

namespace Orms;

require dirname(__DIR__) . '/doctrine.php';

use function Async\awaitAll;
use function Async\spawn;

// Connections are lost outside and inside of transactions: the coroutine gets the exception, and goes on with another connection.
$watcher = watcher();
createTable($watcher);
$db = connection();
$isLost = static function () use ($db, $watcher): void {
    try {
        $db->transactional(static function () use ($db, $watcher): void {
            $db->insert('done', ['n' => -2]);
            kill($watcher, $db->fetchOne(NUMBER_OF_CONNECTION[KIND]));
            $db->insert('done', ['n' => -3]);
        });
        same('an exception', '', 'a lost transaction');
    } catch (\Exception) {
    }
    same(0, $db->getTransactionNestingLevel(), 'level after a lost transaction');
};
$rows = static fn () => array_map(intval(...), $watcher->query('select n from done order by n')->fetchAll(\PDO::FETCH_COLUMN));

kill($watcher, $db->fetchOne(NUMBER_OF_CONNECTION[KIND]));
try {
    $db->insert('done', ['n' => -1]);
    same('an exception', '', 'a lost connection');
} catch (\Exception) {
}
$db->insert('done', ['n' => 1]);
$isLost();
$db->transactional(static fn () => $db->insert('done', ['n' => 2]));
same([1, 2], $rows(), 'rows');

// Others are not disturbed.
awaitAll(array_map(static fn (int $n) => spawn(static function () use ($db, $n, $isLost): void {
    $n % 2 ?: $isLost();
    $db->transactional(static fn () => $db->insert('done', ['n' => $n]));
}), range(3, 12)));
same(range(1, 12), $rows(), 'rows of all');
