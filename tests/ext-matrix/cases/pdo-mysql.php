<?php
// needs: mariadb ext:pdo_mysql
// MariaDB through PDO (mysqlnd).
namespace Matrix;

matrix('query', function (int $i): array {
    return pdo_mysql()->query("select $i * 2 as answer, sleep(" . seconds() . ') as slept')->fetchAll(\PDO::FETCH_ASSOC);
});

matrix('prepared statements in a transaction', function (int $i): array {
    $db = pdo_mysql([\PDO::ATTR_EMULATE_PREPARES => false]);
    $db->exec('create temporary table t (n int primary key, word varchar(20)) engine=innodb');
    $db->beginTransaction();
    $insert = $db->prepare('insert into t values (?, ?)');
    for ($n = 0; $n < 5; $n++) {
        $insert->execute([$n, "word $i.$n"]);
    }
    $sleep = $db->prepare('select sleep(?)');
    $sleep->execute([seconds()]);
    $sleep->closeCursor();
    $rows = $db->query('select * from t order by n')->fetchAll(\PDO::FETCH_NUM);
    $db->rollBack();
    return [$rows, $db->query('select count(*) from t')->fetchColumn()];
});

matrix('unbuffered result', function (int $i): string {
    $db = pdo_mysql([\PDO::MYSQL_ATTR_USE_BUFFERED_QUERY => false]);
    $hash = \hash_init('md5');
    foreach ($db->query("select md5(seq + $i) from seq_1_to_20000", \PDO::FETCH_NUM) as [$value]) {
        \hash_update($hash, $value);
    }
    return \hash_final($hash);
}, n: 8, evidence: 'switch');

matrix('error', function (int $i): array {
    $db = pdo_mysql();
    $db->query('select sleep(' . seconds() . ')');
    try {
        $db->query("select nothing_$i");
        $code = null;
    } catch (\PDOException $e) {
        $code = $e->getCode();
    }
    return [$code, $db->query("select $i + 1")->fetchColumn()];
});

matrix('a lock that times out', function (int $i): array {
    $db = pdo_mysql();
    $name = unique('lock');
    $owner = pdo_mysql();
    $owner->query("do get_lock('$name', 0)");
    return [$db->query("select get_lock('$name', " . seconds() . ')')->fetchColumn(), $owner->query('select 1')->fetchColumn()];
}, n: 10);
