<?php
// needs: php-illuminate-database php-illuminate-events

namespace Orms;

require dirname(__DIR__) . '/eloquent.php';

use Async\Channel;

use function Async\awaitAll;
use function Async\spawn;

$watcher = watcher();
createTable($watcher);
$db = manager()->getConnection();
$number = static fn () => current((array) $db->selectOne(NUMBER_OF_CONNECTION[KIND]));
$rows = static fn () => array_map(intval(...), $watcher->query('select n from done order by n')->fetchAll(\PDO::FETCH_COLUMN));

// A query on a lost connection is repeated on another one; in a transaction it is not.
kill($watcher, $number());
$db->table('done')->insert(['n' => 1]);
$isLost = static function () use ($db, $watcher, $number): void {
    try {
        $db->transaction(static function () use ($db, $watcher, $number): void {
            $db->table('done')->insert(['n' => -1]);
            kill($watcher, $number());
            $db->table('done')->insert(['n' => -2]);
        });
        same('an exception', '', 'a lost transaction');
    } catch (\Exception) {
    }
    // As without a pool, the level is that of the transaction until the connection is opened again.
    $db->transactionLevel() === 0 || $db->reconnect();
};
$isLost();
$db->transaction(static fn () => $db->table('done')->insert(['n' => 2]));
same([1, 2], $rows(), 'rows');
awaitAll(array_map(static fn (int $n) => spawn(static function () use ($db, $n, $isLost): void {
    $n % 2 ?: $isLost();
    $db->transaction(static fn () => $db->table('done')->insert(['n' => $n]));
}), range(3, 12)));
same(range(1, 12), $rows(), 'rows of all');

// Two transactions that wait for each other: one of them is repeated, and may meet the other one again.
createTable($watcher);
$watcher->exec('alter table done add primary key (n)');
$watcher->exec('insert into done values (1), (2)');
$arrived = new Channel(1);
$met = new Channel(1);
$tries = 0;
$both = static function (int $first) use ($db, $arrived, $met, &$tries): void {
    $db->transaction(static function () use ($db, $first, $arrived, $met, &$tries): void {
        $tries++;
        $db->table('done')->where('n', $first)->lockForUpdate()->get();
        if ($tries <= 2) {
            // Both have a row before either asks for that of the other.
            $first === 1 ? $arrived->send(true) : $arrived->recv();
            $first === 1 ? $met->recv() : $met->send(true);
        }
        $db->table('done')->where('n', 3 - $first)->lockForUpdate()->get();
        $db->table('done')->insert(['n' => 10 + $first]);
    }, 20);
};
awaitAll([spawn($both, 1), spawn($both, 2)]);
same([[1, 2, 11, 12], true], [$rows(), $tries >= 3], 'rows after a deadlock');
