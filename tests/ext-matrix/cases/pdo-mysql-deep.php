<?php
// needs: mariadb ext:pdo_mysql
// MariaDB through PDO, beyond single queries.
namespace Matrix;

foreach (['emulated' => true, 'native' => false] as $how => $emulate) {
    matrix("many prepared statements in one connection, $how", function (int $i) use ($emulate): array {
        $db = pdo_mysql([\PDO::ATTR_EMULATE_PREPARES => $emulate]);
        $statements = $answers = [];
        for ($n = 0; $n < 20; $n++) {
            $statements[$n] = $db->prepare("select $n * 1000 + ?, concat('word ', ?), sleep(?)");
        }
        foreach ([7, 19, 0, 7, 12] as $n) {
            $statements[$n]->execute([$i, "of $n", seconds(60)]);
            $answers[] = $statements[$n]->fetchAll(\PDO::FETCH_NUM);
        }
        return $answers;
    }, n: 6, ms: 300);

    matrix("unbuffered, $how", function (int $i) use ($emulate): array {
        $db = pdo_mysql([\PDO::ATTR_EMULATE_PREPARES => $emulate, \PDO::MYSQL_ATTR_USE_BUFFERED_QUERY => false]);
        $statement = $db->prepare('select seq * ?, sleep(?) from seq_1_to_5');
        $statement->execute([$i, seconds(60)]);
        $rows = [$statement->fetch(\PDO::FETCH_NUM)];
        try {
            $db->query('select 1'); // stock PHP refuses this
        } catch (\PDOException $e) {
            $rows[] = $e->getCode();
        }
        while ($row = $statement->fetch(\PDO::FETCH_NUM)) {
            $rows[] = $row;
        }
        $statement->closeCursor();
        return [$rows, $db->query("select $i + 1")->fetchAll(\PDO::FETCH_COLUMN)];
    }, n: 6, ms: 300);
}

matrix('several results of one query', function (int $i): array {
    $db = pdo_mysql();
    $statement = $db->query("select $i, sleep(" . seconds(150) . "); select seq + $i from seq_1_to_3; select 'last', sleep(" . seconds(150) . ')');
    $results = [];
    do {
        $results[] = $statement->fetchAll(\PDO::FETCH_NUM);
    } while ($statement->nextRowset());
    return [$results, $db->query("select $i")->fetchColumn()];
}, n: 6, ms: 300);

pdo_mysql()->exec('create procedure ' . ($procedure = unique('procedure')) . '(n int)
    begin select n * 2; do sleep(' . seconds(150) . '); select n * 3; do sleep(' . seconds(150) . '); end');
matrix('a procedure with two results', function (int $i) use ($procedure): array {
    $statement = pdo_mysql()->query("call $procedure($i)");
    $results = [];
    do {
        $results[] = $statement->fetchAll(\PDO::FETCH_NUM);
    } while ($statement->nextRowset() && $statement->columnCount());
    return $results;
}, n: 6, ms: 300);

pdo_mysql()->exec('create table ' . ($ledger = unique('ledger')) . ' (id int auto_increment primary key, who int, what varchar(20), key (who)) engine=innodb');
matrix('transactions that overlap, some rolled back', function (int $i) use ($ledger): array {
    $db = pdo_mysql();
    $watcher = pdo_mysql();
    $seen = fn(\PDO $link) => $link->query("select what from $ledger where who = $i order by what")->fetchAll(\PDO::FETCH_COLUMN);
    $db->beginTransaction();
    $db->exec("insert into $ledger (who, what) values ($i, 'first')");
    $id = $db->lastInsertId();
    $db->exec('savepoint s');
    $db->exec("insert into $ledger (who, what) select $i, concat('taken back', sleep(" . seconds(150) . '))');
    $inside = [$seen($db), $seen($watcher), $db->inTransaction(), $db->query("select what from $ledger where id = $id and who = $i")->fetchColumn()];
    $db->exec('rollback to savepoint s');
    $db->exec("insert into $ledger (who, what) select $i, concat('last', sleep(" . seconds(150) . '))');
    $i % 2 ? $db->rollBack() : $db->commit();
    return [$inside, $seen($watcher), $db->inTransaction()];
}, n: 6, ms: 300);

matrix('100,000 rows', function (int $i): array {
    $rows = pdo_mysql()->query("select seq + $i, md5(seq + $i) from seq_1_to_100000")->fetchAll(\PDO::FETCH_NUM);
    return [\count($rows), \array_sum(\array_column($rows, 0)), \md5(\implode(\array_column($rows, 1)))];
}, n: 3, evidence: 'switch');

matrix('load data local', function (int $i): array {
    $db = pdo_mysql([\PDO::MYSQL_ATTR_LOCAL_INFILE => true]);
    \file_put_contents($file = scratch('load'), \implode(\array_map(fn($n) => "$n;word $i.$n\n", \range(1, 20_000))));
    $db->exec('create temporary table l (n int, word varchar(40))');
    $loaded = $db->exec("load data local infile '$file' into table l fields terminated by ';'");
    return [$loaded, $db->query('select count(*), sum(n), max(word) from l')->fetch(\PDO::FETCH_NUM)];
}, n: 3, evidence: 'switch');

matrix('a big blob through a stream', function (int $i): array {
    $db = pdo_mysql([\PDO::ATTR_EMULATE_PREPARES => false]);
    $db->exec('create temporary table b (n int, data longblob)');
    $file = \fopen('php://temp', 'w+');
    \fwrite($file, $data = \str_pad("blob of $i", 4 << 20, "\0\xff'\n"));
    \rewind($file);
    $insert = $db->prepare('insert into b values (?, ?)');
    $insert->bindValue(1, $i, \PDO::PARAM_INT);
    $insert->bindParam(2, $file, \PDO::PARAM_LOB);
    $insert->execute();
    $row = $db->query('select n, data from b')->fetch(\PDO::FETCH_NUM);
    return [$row[0], $row[1] === $data];
}, n: 4, evidence: 'switch');

// Waits for a row, not in sleep(): MariaDB's timer now and then takes 2 s for each of several sleeps that end at once.
pdo_mysql()->exec('create table ' . ($held = unique('held')) . ' (id int primary key) engine=innodb');
pdo_mysql()->exec("insert into $held select seq from seq_0_to_5");
matrix('max_statement_time', function (int $i) use ($held): array {
    $owner = pdo_mysql();
    $owner->beginTransaction();
    $owner->exec("update $held set id = id where id = $i");
    $db = pdo_mysql();
    try {
        $db->exec('set max_statement_time = ' . seconds(300));
        $failure = $db->query("select id from $held where id = $i for update")->fetchAll();
    } catch (\PDOException $e) {
        $failure = $e->errorInfo[1];
    }
    $owner->rollBack();
    return [$failure, $db->query("select $i + 1")->fetchColumn()];
}, n: 6, ms: 300);

matrix('a callback that queries within fetchAll', function (int $i): array {
    $inner = pdo_mysql();
    return pdo_mysql()->query("select seq + $i from seq_1_to_3")->fetchAll(\PDO::FETCH_FUNC, function ($n) use ($inner) {
        return $inner->query("select $n * 2, sleep(" . seconds(100) . ')')->fetchColumn();
    });
}, n: 6, ms: 300);

matrix('a persistent connection', function (int $i): array {
    $db = pdo_mysql([\PDO::ATTR_PERSISTENT => true]);
    return $db->query("select $i * 7, sleep(" . seconds(50) . ')')->fetchAll(\PDO::FETCH_NUM);
}, n: 8, evidence: 'switch');
