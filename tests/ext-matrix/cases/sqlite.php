<?php
// needs: ext:pdo_sqlite
// SQLite: its files, its locks and its mutexes.
namespace Matrix;

function sqlite(string $file, int $timeout = 10): \PDO
{
    return new \PDO("sqlite:$file", null, null, [\PDO::ATTR_TIMEOUT => $timeout]);
}

matrix('a writer waits for another connection', function (int $i): array {
    $file = scratch('db');
    // (a process forked with the database open would believe its parent's locks to be its own)
    $other = beside(function () use ($file, $i): int {
        while (!\is_file("$file.locked")) {
            \usleep(5000);
        }
        return sqlite($file)->exec("insert into t values ($i)");
    });
    $one = sqlite($file);
    $one->exec('create table t (n int)');
    $one->exec('begin immediate');
    \touch("$file.locked");
    \usleep(ms() * 1000);
    $one->exec('insert into t values (1000)');
    $one->exec('commit');
    return [$other(), $one->query('select n from t order by n desc')->fetchAll(\PDO::FETCH_COLUMN)];
}, n: 8);

matrix('a writer that gives up', function (int $i): array {
    $one = sqlite($file = scratch('db'));
    $one->exec('create table t (n int)');
    $one->exec('begin immediate');
    $start = \hrtime(true);
    try {
        sqlite($file, 1)->exec('insert into t values (1)');
        $failure = null;
    } catch (\PDOException $e) {
        $failure = $e->errorInfo;
    }
    return [$failure, (\hrtime(true) - $start) / 1e9 > 0.8];
}, n: 2, ms: 1000);

$many = scratch('db');
sqlite($many)->exec('pragma journal_mode = wal; create table t (w int, n int, unique (w, n))');
matrix('one database, many writers', function (int $i) use ($many): int {
    $db = sqlite($many);
    for ($n = 0; $n < 20; $n++) {
        $db->exec("insert into t values ($i, $n)");
    }
    return (int) $db->query("select count(*) from t where w = $i")->fetchColumn();
}, n: 6, evidence: 'none');

matrix('databases of their own', function (int $i): array {
    $db = sqlite(scratch('db'));
    $db->exec('pragma journal_mode = wal; create table t (n int primary key, word text)');
    $db->beginTransaction();
    $insert = $db->prepare('insert into t values (?, ?)');
    for ($n = 0; $n < 200; $n++) {
        $insert->execute([$n, "word $i.$n"]);
    }
    $db->commit();
    return [$db->query('select count(*), sum(n) from t')->fetch(\PDO::FETCH_NUM), $db->query('pragma integrity_check')->fetchColumn()];
}, n: 10, evidence: 'none');

matrix('a PHP function inside a query blocks', function (int $i): array {
    $db = sqlite(':memory:');
    $db->sqliteCreateFunction('slow', function (int $n): int {
        \usleep(ms(100) * 1000);
        return $n * 2;
    });
    return $db->query("select slow($i), slow($i + 1), slow($i + 2)")->fetch(\PDO::FETCH_NUM);
}, ms: 300);
