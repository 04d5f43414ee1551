<?php
// needs: postgres mariadb ext:pdo_pgsql ext:pdo_mysql ext:mysqli ext:pdo_sqlite ext:sqlite3 ext:pgsql
// Handles of one connection that were made before the first coroutine: they take turns too.
namespace Matrix;

use Async;

$works = 6;
$pgsql = pdo_pgsql();
$mysql = pdo_mysql([\PDO::ATTR_EMULATE_PREPARES => false]);
$mysqli = mysqli();
$sqlite = new \PDO('sqlite:' . scratch('db'));
$sqlite->exec('create table t (w int, n int)');
$sqlite3 = new \SQLite3(scratch('db3'));
$sqlite3->exec('create table t (w int, n int)');
$made = [];
for ($i = 0; $i < $works; $i++) {
    $made[$i] = [
        'pgsql' => $pgsql->prepare("select $i, ?::int, pg_sleep(" . seconds(20) . ')'),
        'mysql' => $mysql->prepare("select $i, ?, sleep(" . seconds(20) . ')'),
        'mysqli' => $mysqli->prepare("do $i, ?, sleep(" . seconds(20) . ')'), // rows would be fetched by calls of their own
        'sqlite' => $sqlite->prepare("insert into t values ($i, ?)"),
        'sqlite3' => $sqlite3->prepare("insert into t values ($i, ?)"),
    ];
}

foreach (['pgsql', 'mysql'] as $kind) {
    matrix("statements of PDO-$kind", function (int $i) use ($made, $kind): array {
        for ($n = 0, $rows = []; $n < 3; $n++) {
            $made[$i][$kind]->execute([$n]);
            $rows[] = $made[$i][$kind]->fetchAll(\PDO::FETCH_NUM);
        }
        return $rows;
    }, n: $works, evidence: 'ticks');
}

matrix('statements of mysqli', function (int $i) use ($made): array {
    for ($n = 0, $rows = []; $n < 3; $n++) {
        $made[$i]['mysqli']->bind_param('i', $n);
        $rows[] = $made[$i]['mysqli']->execute();
    }
    return $rows;
}, n: $works, evidence: 'ticks');

matrix('statements of PDO-sqlite and SQLite3', function (int $i) use ($made, $sqlite, $sqlite3): array {
    for ($n = 0; $n < 10; $n++) {
        $made[$i]['sqlite']->execute([$n]);
        $made[$i]['sqlite3']->bindValue(1, $n);
        $made[$i]['sqlite3']->execute();
    }
    $sum = "select sum(n) from t where w = $i";
    return [(int) $sqlite->query($sum)->fetchColumn(), $sqlite3->querySingle($sum)];
}, n: $works, evidence: 'none');

with_coroutines('a method of the driver, found in a table of its own, takes its turn', function (Check $check) use ($pgsql): void {
    $notice = Async\spawn(fn() => $pgsql->pgsqlGetNotify(\PDO::FETCH_ASSOC, 200));
    Async\suspend();
    $answer = Async\spawn(fn() => [$pgsql->query('select 7')->fetchColumn(), $notice->isCompleted()]);
    Async\spawn(fn() => pdo_pgsql()->exec('notify elsewhere'));
    [$seven, $waited] = finished($answer);
    (string) $seven === '7' or $check->problem('the query has another answer');
    $waited or $check->problem('the query did not wait for its turn');
    finished($notice) === false or $check->problem('a notification out of nothing');
});
