<?php
// needs: ext:pdo_sqlite ext:sqlite3
// SQLite beyond single queries: both extensions, several connections to one database, callbacks that block.
namespace Matrix;

function sqlite(string $file, int $timeout = 20): \PDO
{
    return new \PDO("sqlite:$file", null, null, [\PDO::ATTR_TIMEOUT => $timeout]);
}

function sqlite3(string $file): \SQLite3
{
    $db = new \SQLite3($file);
    $db->enableExceptions(true);
    $db->busyTimeout(20_000);
    return $db;
}

// (connections of their own to one database; each transaction waits in the middle, holding the write lock)
foreach (['wal', 'delete', 'memory'] as $journal) {
    $file = scratch($journal);
    sqlite($file)->exec("pragma journal_mode = $journal; create table t (who int, n int, unique (who, n)); create table total (sum int); insert into total values (0)");
    matrix("transactions of many connections, journal $journal", function (int $i) use ($file): array {
        $db = sqlite($file);
        for ($n = 0; $n < 3; $n++) {
            $db->exec('begin immediate');
            $sum = $db->query('select sum from total')->fetchColumn();
            $db->exec("insert into t values ($i, $n)");
            \usleep(ms(10) * 1000);
            $db->exec('update total set sum = ' . ($sum + $i));
            $db->exec($n === 1 ? 'rollback' : 'commit');
        }
        return [$db->query("select n from t where who = $i")->fetchAll(\PDO::FETCH_COLUMN), $db->query('pragma integrity_check')->fetchColumn()];
    }, n: 6, ms: 200, evidence: 'ticks');
    scenario("no addition was lost, journal $journal", fn() => sqlite($file)->query('select sum from total')->fetchColumn());
}

$file = scratch('wal');
sqlite3($file)->exec('pragma journal_mode = wal; create table t (who int, n int)');
matrix('SQLite3: a WAL reader keeps its view while others write', function (int $i) use ($file): array {
    $reader = sqlite3($file);
    $count = "select count(*) from t where who = $i";
    $reader->exec('begin');
    $seen = [$reader->querySingle($count)];
    $writer = sqlite3($file);
    $writer->exec("begin immediate; insert into t values ($i, 1)");
    \usleep(ms(20) * 1000);
    $writer->exec("insert into t values ($i, 2)");
    $writer->exec('commit');
    $seen[] = $reader->querySingle($count);
    \usleep(ms(300) * 1000);
    $reader->exec('commit');
    return [...$seen, $reader->querySingle($count)];
}, n: 6, ms: 300);

matrix('a transaction that cannot be upgraded', function (int $i): array {
    $db = sqlite($file = scratch('db'), 1);
    $db->exec('pragma journal_mode = wal; create table t (n int)');
    $other = sqlite($file);
    $db->beginTransaction();
    $db->query('select * from t')->fetchAll();
    $other->exec("insert into t values ($i)");
    \usleep(ms(300) * 1000);
    try {
        $db->exec('insert into t values (-1)');
        $failure = null;
    } catch (\PDOException $e) {
        $failure = $e->errorInfo;
    }
    $db->rollBack();
    return [$failure, $db->exec("insert into t values ($i + 1)"), $db->query('select n from t')->fetchAll(\PDO::FETCH_COLUMN)];
}, n: 6, ms: 300);

matrix('SQLite3: functions, aggregates and collations that block', function (int $i): array {
    $db = sqlite3(':memory:');
    $wait = fn() => \usleep(ms(20) * 1000);
    $db->createFunction('slow', function (int $n) use ($wait): int {
        $wait();
        return $n * 2;
    });
    $db->createAggregate('gather', function ($context, $row, $value) use ($wait): array {
        $wait();
        return [...$context ?? [], $value];
    }, function ($context) use ($wait): string {
        $wait();
        return \implode(',', $context);
    });
    $db->createCollation('backwards', function (string $a, string $b) use ($wait): int {
        $wait();
        return $b <=> $a;
    });
    $db->exec("create table t (n int, word text); insert into t values (1, 'a'), (2, 'b'), (3, 'c'), ($i, 'd')");
    $result = $db->query('select word from t order by word collate backwards');
    $words = [];
    while ($row = $result->fetchArray(SQLITE3_NUM)) {
        $words[] = $row[0];
    }
    return [$db->querySingle("select slow(slow($i))"), $db->querySingle('select gather(slow(n)) from t'), $words];
}, n: 6, ms: 250);

matrix('PDO: functions, aggregates and collations that block', function (int $i): array {
    $db = sqlite(':memory:');
    $wait = fn() => \usleep(ms(20) * 1000);
    $db->sqliteCreateAggregate('gather', function ($context, $row, $value) use ($wait): array {
        $wait();
        return [...$context ?? [], $value];
    }, function ($context) use ($wait): string {
        $wait();
        return \implode(',', $context);
    });
    $db->sqliteCreateCollation('backwards', function (string $a, string $b) use ($wait): int {
        $wait();
        return $b <=> $a;
    });
    $db->exec("create table t (n int, word text); insert into t values (1, 'a'), (2, 'b'), (3, 'c'), ($i, 'd')");
    return [$db->query('select gather(n) from t')->fetchColumn(), $db->query('select word from t order by word collate backwards')->fetchAll(\PDO::FETCH_COLUMN)];
}, n: 8, ms: 150);

matrix('a function that fails after it blocked', function (int $i): array {
    $db = sqlite(':memory:');
    $db->sqliteCreateFunction('fails', function () use ($i): void {
        \usleep(ms(300) * 1000);
        throw new \DomainException("failure $i");
    });
    try {
        $answer = $db->query('select fails()')->fetchColumn();
    } catch (\DomainException $e) {
        $answer = $e->getMessage();
    }
    return [$answer, $db->query("select $i")->fetchColumn()];
}, n: 6, ms: 300);

matrix('an inner query in a function of an outer one', function (int $i): array {
    $db = sqlite(':memory:');
    $db->exec('create table t (n int); insert into t values (1), (2), (3)');
    $db->sqliteCreateFunction('sum_up_to', function (int $n) use ($db): int {
        \usleep(ms(100) * 1000);
        return $db->query("select sum(n) from t where n <= $n")->fetchColumn();
    });
    return $db->query("select n + $i, sum_up_to(n) from t")->fetchAll(\PDO::FETCH_NUM);
}, n: 6, ms: 300);

matrix('an authorizer that blocks', function (int $i): array {
    $db = sqlite3(':memory:');
    $asked = 0;
    $db->setAuthorizer(function (int $action) use (&$asked): int {
        $asked++;
        \usleep(ms(50) * 1000);
        return $action === \SQLite3::DROP_TABLE ? \SQLite3::DENY : \SQLite3::OK;
    });
    $db->exec('create table t (n int)');
    try {
        $db->exec('drop table t');
        $failure = null;
    } catch (\Exception $e) {
        $failure = $e->getMessage();
    }
    return [$failure, $asked];
}, n: 6, ms: 300);

matrix('prepared statements and blobs', function (int $i): array {
    $db = sqlite3(scratch('db'));
    $db->exec('create table t (n integer primary key, data blob)');
    $insert = $db->prepare('insert into t values (:n, :data)');
    $data = \random_bytes(500_000);
    for ($n = 0; $n < 4; $n++) {
        $insert->bindValue(':n', $n);
        $insert->bindValue(':data', $n % 2 ? $data : "text $i", SQLITE3_BLOB);
        $insert->execute();
        $insert->reset();
    }
    $blob = $db->openBlob('t', 'data', 3);
    return [\stream_get_contents($blob) === $data, $db->querySingle('select data from t where n = 2'), $db->lastInsertRowID(), $db->changes()];
}, n: 6, evidence: 'none');

matrix('backup of one that is written to', function (int $i): array {
    $from = sqlite3(scratch('from'));
    $from->exec('create table t (n int); insert into t with recursive c(n) as (select 1 union all select n + 1 from c where n < 20000) select n from c');
    $from->createFunction('slow', function (int $n): int {
        \usleep(ms(300) * 1000);
        return $n;
    });
    $to = sqlite3(scratch('to'));
    $done = $from->backup($to);
    $from->exec('insert into t select slow(-1)');
    return [$done, $to->querySingle('select count(*) from t'), $from->querySingle('select min(n) from t')];
}, n: 6, ms: 300);
