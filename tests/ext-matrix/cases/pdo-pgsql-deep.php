<?php
// needs: postgres ext:pdo_pgsql
// PostgreSQL through PDO, beyond single queries.
namespace Matrix;

foreach (['by the server' => [], 'emulated' => [\PDO::ATTR_EMULATE_PREPARES => true], 'unnamed' => [\PDO::PGSQL_ATTR_DISABLE_PREPARES => true]] as $how => $options) {
    matrix("many prepared statements in one connection, $how", function (int $i) use ($options): array {
        $db = pdo_pgsql();
        $statements = [];
        for ($n = 0; $n < 20; $n++) {
            $statements[$n] = $db->prepare("select $n * 1000 + cast(:plus as int), pg_sleep(:wait)", $options);
        }
        $answers = [];
        foreach ([7, 19, 0, 7, 12] as $n) {
            $statements[$n]->execute(['plus' => $i, 'wait' => seconds(60)]);
            $answers[] = $statements[$n]->fetchColumn();
        }
        return [$answers, $db->query('select count(*) from pg_prepared_statements')->fetchColumn()];
    }, n: 6, ms: 300);
}

$admin = pdo_pgsql();
$admin->exec('create table ' . ($ledger = unique('ledger')) . ' (id serial, who int, what text)');
matrix('transactions that overlap, some rolled back', function (int $i) use ($ledger): array {
    $db = pdo_pgsql();
    $watcher = pdo_pgsql();
    $seen = fn(\PDO $link) => $link->query("select what from $ledger where who = $i order by what")->fetchAll(\PDO::FETCH_COLUMN);
    $db->beginTransaction();
    $db->exec("insert into $ledger (who, what) values ($i, 'first')");
    $id = $db->lastInsertId();
    $db->exec('savepoint s');
    $db->exec("insert into $ledger (who, what) select $i, 'taken back' from (select pg_sleep(" . seconds(150) . ')) s');
    $inside = [$seen($db), $seen($watcher), $db->inTransaction(), $db->query("select what from $ledger where id = $id and who = $i")->fetchColumn()];
    $db->exec('rollback to savepoint s');
    $db->exec("insert into $ledger (who, what) select $i, 'last' from (select pg_sleep(" . seconds(150) . ')) s');
    $i % 2 ? $db->rollBack() : $db->commit();
    return [$inside, $seen($watcher), $db->inTransaction()];
}, n: 6, ms: 300);

matrix('repeatable reads, one of two writers has to give up', function (int $i) use ($ledger): array {
    $number = 1000 + $i;
    [$seen, $written] = [\crc32(unique('seen')), \crc32(unique('written'))];
    $update = function (\PDO $db) use ($ledger, $number): string {
        try {
            $db->exec("update $ledger set what = 'written' where who = $number");
            $db->commit();
            return 'fine';
        } catch (\PDOException $e) {
            $db->rollBack();
            return $e->getCode();
        }
    };
    $db = pdo_pgsql();
    $db->exec("insert into $ledger (who, what) values ($number, 'new'); select pg_advisory_lock($written)");
    $other = beside(function () use ($ledger, $number, $update, $seen, $written): string {
        $db = pdo_pgsql();
        $db->exec('begin isolation level repeatable read');
        $db->query("select what from $ledger where who = $number")->fetchAll();
        $db->exec("select pg_advisory_lock($seen)");
        $db->exec("select pg_advisory_lock($written)"); // until the other one has written
        return $update($db);
    });
    while ($db->query("select pg_try_advisory_lock($seen)")->fetchColumn()) {
        $db->exec("select pg_advisory_unlock($seen)");
        \usleep(2000);
    }
    $db->exec('begin isolation level repeatable read');
    $db->exec('select pg_sleep(' . seconds(300) . ')');
    $first = $update($db);
    $db->exec("select pg_advisory_unlock($written)");
    return [$first, $other()];
}, n: 5, ms: 300);

matrix('100,000 rows', function (int $i): array {
    $rows = pdo_pgsql()->query("select n + $i, md5((n + $i)::text) from generate_series(1, 100000) n")->fetchAll(\PDO::FETCH_NUM);
    return [\count($rows), \array_sum(\array_column($rows, 0)), \md5(\implode(\array_column($rows, 1)))];
}, n: 3, evidence: 'switch');

matrix('scrollable cursors, two at once', function (int $i): array {
    $db = pdo_pgsql();
    $db->beginTransaction();
    $cursors = [];
    foreach ([1, 2] as $n) {
        $cursors[$n] = $db->prepare("select n * $n + $i from generate_series(1, 50) n", [\PDO::ATTR_CURSOR => \PDO::CURSOR_SCROLL]);
        $cursors[$n]->execute();
    }
    $values = [];
    for ($row = 0; $row < 6; $row++) {
        foreach ($cursors as $cursor) {
            $values[] = $cursor->fetchColumn();
        }
        $db->query('select pg_sleep(' . seconds(50) . ')');
    }
    $values[] = $cursors[1]->fetch(\PDO::FETCH_NUM, \PDO::FETCH_ORI_LAST);
    $values[] = $cursors[2]->fetch(\PDO::FETCH_NUM, \PDO::FETCH_ORI_ABS, 10);
    $values[] = $cursors[1]->fetch(\PDO::FETCH_NUM, \PDO::FETCH_ORI_PRIOR);
    $db->commit();
    return $values;
}, n: 6, ms: 300);

matrix('copy from a file and to a file', function (int $i): array {
    $db = pdo_pgsql();
    $db->exec('create temp table c (n int, word text)');
    $in = scratch('in');
    \file_put_contents($in, \implode(\array_map(fn($n) => "$n;word $i.$n\n", \range(1, 30_000))));
    return [$db->pgsqlCopyFromFile('c', $in, ';'), $db->pgsqlCopyToFile('c', $out = scratch('out'), ';'), \md5_file($out) === \md5_file($in)];
}, n: 3, evidence: 'switch');

matrix('a copy that the server is slow with, and one that fails', function (int $i): array {
    $db = pdo_pgsql();
    $db->exec('create temp table c (n int, slept text default pg_sleep(' . seconds(150) . ')::text)');
    $copied = $db->pgsqlCopyFromArray('c', ["$i", "$i"], "\t", '\\\\N', 'n');
    try {
        $failure = $db->pgsqlCopyFromArray('c', ['not a number'], "\t", '\\\\N', 'n');
    } catch (\PDOException $e) {
        $failure = $e->getCode();
    }
    return [$copied, $failure, $db->query('select sum(n) from c')->fetchColumn()];
}, n: 6, ms: 300);

matrix('large objects, read here and there', function (int $i): array {
    $db = pdo_pgsql();
    $db->beginTransaction();
    $oid = $db->pgsqlLOBCreate();
    $stream = $db->pgsqlLOBOpen($oid, 'w');
    for ($n = 0; $n < 100; $n++) {
        \fwrite($stream, \str_pad("line $n of $i", 999) . "\n");
    }
    $stream = $db->pgsqlLOBOpen($oid, 'r');
    $read = [\trim(\fgets($stream)), \fseek($stream, 50_000), \trim(\fgets($stream)), \ftell($stream), \fseek($stream, -1000, SEEK_END), \trim(\fgets($stream)), \feof($stream)];
    $db->query('select pg_sleep(' . seconds(300) . ')');
    \rewind($stream);
    $read[] = \md5(\stream_get_contents($stream));
    $stream = null;
    $read[] = $db->pgsqlLOBUnlink($oid);
    $db->commit();
    return $read;
}, n: 6, ms: 300);

matrix('pgsqlGetNotify, nothing in time and then something', function (int $i): array {
    $channel = unique("channel_$i");
    $db = pdo_pgsql();
    $db->exec("listen $channel");
    $start = \hrtime(true);
    $early = $db->pgsqlGetNotify(\PDO::FETCH_NUM, ms(150));
    $waited = (\hrtime(true) - $start) / 1e6 >= ms(150) - 1;
    $other = beside(function () use ($channel, $i): void {
        \usleep(ms(150) * 1000);
        pdo_pgsql()->exec("notify $channel, 'one $i'; notify $channel, 'two $i'");
    });
    $notices = [$db->pgsqlGetNotify(\PDO::FETCH_NUM, 10_000), $db->pgsqlGetNotify(\PDO::FETCH_NUM, 10_000)];
    $other();
    return [$early, $waited, \array_map(fn($notice) => [$notice[0] === $channel, $notice[2]], $notices)];
}, n: 6, ms: 300);

matrix('statement_timeout, lock_timeout, and each way to hear of an error', function (int $i): array {
    $db = pdo_pgsql();
    $db->exec('set statement_timeout = 100');
    $heard = [];
    foreach ([\PDO::ERRMODE_SILENT, \PDO::ERRMODE_WARNING, \PDO::ERRMODE_EXCEPTION] as $mode) {
        $db->setAttribute(\PDO::ATTR_ERRMODE, $mode);
        try {
            $heard[] = @$db->query('select pg_sleep(20)');
        } catch (\PDOException $e) {
            $heard[] = $e->errorInfo[0];
        }
        $heard[] = $db->errorCode();
    }
    $db->exec('set statement_timeout = 0; set lock_timeout = ' . ms(100));
    $key = \crc32(unique('lock'));
    $owner = pdo_pgsql();
    $owner->exec("select pg_advisory_lock($key)");
    try {
        $db->exec("select pg_advisory_lock($key)");
    } catch (\PDOException $e) {
        $heard[] = $e->getCode();
    }
    return [$heard, $db->query("select $i + 1")->fetchColumn()];
}, n: 8, ms: 400);

matrix('callbacks and constructors that block within fetchAll', function (int $i): array {
    $db = pdo_pgsql();
    $inner = pdo_pgsql();
    $rows = $db->query("select $i + n from generate_series(1, 3) n")->fetchAll(\PDO::FETCH_FUNC, function ($n) use ($inner) {
        return $inner->query("select $n * 2 from (select pg_sleep(" . seconds(50) . ')) s')->fetchColumn();
    });
    $class = new class {
        public $n;
        public $made = 0;

        public function __construct()
        {
            \usleep(ms(50) * 1000);
            $this->made++;
        }
    };
    $objects = $db->query("select $i * n as n from generate_series(1, 3) n")->fetchAll(\PDO::FETCH_CLASS, $class::class);
    return [$rows, \array_map(\get_object_vars(...), $objects)];
}, n: 6, ms: 300);

matrix('bound columns, and a stream as a parameter', function (int $i): array {
    $db = pdo_pgsql();
    $db->exec('create temp table b (n int, data bytea)');
    $insert = $db->prepare('insert into b values (?, ?)');
    $file = \fopen('php://temp', 'w+');
    \fwrite($file, $data = \random_bytes(200_000));
    \rewind($file);
    $insert->bindValue(1, $i, \PDO::PARAM_INT);
    $insert->bindParam(2, $file, \PDO::PARAM_LOB);
    $insert->execute();
    $select = $db->prepare('select n, data from b, (select pg_sleep(?)) s');
    $select->execute([seconds(300)]);
    $select->bindColumn(1, $n, \PDO::PARAM_INT);
    $select->bindColumn(2, $back, \PDO::PARAM_LOB);
    $select->fetch(\PDO::FETCH_BOUND);
    return [$n, \stream_get_contents($back) === $data];
}, n: 6, ms: 300);

matrix('a persistent connection', function (int $i): array {
    $db = new \PDO(env('SPINDLE_PG_DSN'), null, null, [\PDO::ATTR_PERSISTENT => true]);
    return $db->query("select $i * 7, pg_sleep(" . seconds(50) . ')')->fetchAll(\PDO::FETCH_NUM);
}, n: 8, evidence: 'switch');
