<?php
// needs: postgres ext:pdo_pgsql
// PostgreSQL through PDO.
namespace Matrix;

matrix('query', function (int $i): array {
    return pdo_pgsql()->query("select $i * 2 as answer from (select pg_sleep(" . seconds() . ')) s')->fetchAll(\PDO::FETCH_ASSOC);
});

matrix('prepared statements in a transaction', function (int $i): array {
    $db = pdo_pgsql();
    $db->beginTransaction();
    $db->exec('create temp table t (n int primary key, word text) on commit drop');
    $insert = $db->prepare('insert into t values (?, ?)');
    for ($n = 0; $n < 5; $n++) {
        $insert->execute([$n, "word $i.$n"]);
    }
    $db->prepare('select pg_sleep(?)')->execute([seconds()]);
    $rows = $db->query('select * from t order by n')->fetchAll(\PDO::FETCH_NUM);
    $db->commit();
    return [$rows, $db->inTransaction()];
});

matrix('rollback after an error', function (int $i): array {
    $db = pdo_pgsql();
    $db->beginTransaction();
    $db->query('select pg_sleep(' . seconds() . ')');
    try {
        $db->query("select $i / 0");
        $code = null;
    } catch (\PDOException $e) {
        $code = $e->getCode();
    }
    $db->rollBack();
    return [$code, $db->query("select $i + 1")->fetchColumn()];
});

matrix('a big result', function (int $i): string {
    $db = pdo_pgsql();
    $hash = \hash_init('md5');
    foreach ($db->query("select md5((n + $i)::text) from generate_series(1, 20000) n", \PDO::FETCH_NUM) as [$value]) {
        \hash_update($hash, $value);
    }
    return \hash_final($hash);
}, n: 8, evidence: 'switch');

matrix('copy in and out', function (int $i): array {
    $db = pdo_pgsql();
    $db->exec('create temp table c (n int, word text)');
    $db->pgsqlCopyFromArray('c', \array_map(fn($n) => "$n\tword $i.$n", \range(1, 500)));
    $db->query('select pg_sleep(' . seconds() . ')');
    return [$db->query('select sum(n) from c')->fetchColumn(), \md5(\implode($db->pgsqlCopyToArray('c')))];
}, n: 10);

matrix('large objects', function (int $i): string {
    $db = pdo_pgsql();
    $db->beginTransaction();
    $oid = $db->pgsqlLOBCreate();
    $stream = $db->pgsqlLOBOpen($oid, 'w');
    \fwrite($stream, \str_repeat("object $i ", 10_000));
    $stream = null;
    $content = \stream_get_contents($db->pgsqlLOBOpen($oid, 'r'));
    $db->pgsqlLOBUnlink($oid);
    $db->commit();
    return \md5($content);
}, n: 8, evidence: 'switch');

scenario('listen and notify', function (): array {
    $channel = unique('channel');
    $db = pdo_pgsql();
    $db->exec("listen $channel");
    $early = $db->pgsqlGetNotify(\PDO::FETCH_NUM, ms(200));
    $other = beside(function () use ($channel): void {
        \usleep(100_000);
        pdo_pgsql()->exec("notify $channel, 'hello'");
    });
    $notice = $db->pgsqlGetNotify(\PDO::FETCH_ASSOC, 5000);
    $other();
    return [$early, $notice['message'] === $channel, $notice['payload']];
}, waits: 50);
