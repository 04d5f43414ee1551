<?php
// needs: mariadb ext:mysqli
// MariaDB through mysqli, beyond single queries.
namespace Matrix;

matrix('an unbuffered result, row by row', function (int $i): array {
    $db = mysqli();
    $result = $db->query("select seq + $i, sleep(" . seconds(60) . ") from seq_1_to_5", MYSQLI_USE_RESULT);
    $rows = [];
    while ($row = $result->fetch_row()) {
        $rows[] = $row;
    }
    $result->free();
    return [$rows, $db->query("select $i")->fetch_row()];
}, n: 6, ms: 300);

matrix('100,000 rows, buffered and not', function (int $i): array {
    $db = mysqli();
    $sums = [];
    foreach ([MYSQLI_STORE_RESULT, MYSQLI_USE_RESULT] as $mode) {
        $sum = 0;
        $hash = \hash_init('md5');
        foreach ($db->query("select seq + $i, md5(seq + $i) from seq_1_to_100000", $mode) as $row) {
            $sum += \reset($row);
            \hash_update($hash, \end($row));
        }
        $sums[] = [$sum, \hash_final($hash)];
    }
    return $sums;
}, n: 3, evidence: 'switch');

matrix('what stock says of two unbuffered results at once', function (int $i): array {
    $db = mysqli();
    $first = $db->query('select seq from seq_1_to_1000', MYSQLI_USE_RESULT);
    $row = $first->fetch_row();
    try {
        $second = $db->query("select $i");
    } catch (\mysqli_sql_exception $e) {
        $second = $e->getMessage();
    }
    while ($first->fetch_row()) {
    }
    return [$row, $second, $db->query("select $i, sleep(" . seconds(300) . ')')->fetch_row()];
}, n: 6, ms: 300);

matrix('many statements in one connection, bind_result and get_result', function (int $i): array {
    $db = mysqli();
    $statements = $answers = [];
    for ($n = 0; $n < 20; $n++) {
        $statements[$n] = $db->prepare("select $n * 1000 + ?, concat('word ', ?), sleep(?)");
    }
    $wait = seconds(60);
    foreach ([7, 19, 0, 7, 12] as $n) {
        $statements[$n]->bind_param('isd', $i, $n, $wait);
        $statements[$n]->execute();
        if ($n % 2) {
            $statements[$n]->bind_result($number, $word, $slept);
            $statements[$n]->store_result();
            while ($statements[$n]->fetch()) {
                $answers[] = [$number, $word, $slept];
            }
            $statements[$n]->free_result();
        } else {
            $answers[] = $statements[$n]->get_result()->fetch_row();
        }
    }
    return $answers;
}, n: 6, ms: 300);

matrix('an unbuffered statement', function (int $i): array {
    $db = mysqli();
    $statement = $db->prepare('select seq * ?, sleep(?) from seq_1_to_5');
    $statement->execute([$i, seconds(60)]);
    $statement->bind_result($number, $slept);
    $numbers = [];
    while ($statement->fetch()) {
        $numbers[] = $number;
    }
    return $numbers;
}, n: 6, ms: 300);

matrix('a cursor on the server', function (int $i): array {
    $db = mysqli();
    $statement = $db->prepare('select seq * ? from seq_1_to_1000, (select sleep(?)) s');
    $statement->attr_set(MYSQLI_STMT_ATTR_CURSOR_TYPE, MYSQLI_CURSOR_TYPE_READ_ONLY);
    // The number of rows to ask for at once cannot be set any more from PHP 8.4 on.
    if (\defined('MYSQLI_STMT_ATTR_PREFETCH_ROWS')) {
        $statement->attr_set(\constant('MYSQLI_STMT_ATTR_PREFETCH_ROWS'), 1);
    }
    $statement->execute([$i, seconds(300)]);
    $statement->bind_result($number);
    $sum = $count = 0;
    while ($statement->fetch()) {
        $sum += $number;
        $count++;
    }
    return [$sum, $count];
}, n: 5, ms: 300);

matrix('multi_query with an error in the middle', function (int $i): array {
    $db = mysqli();
    $db->multi_query("select $i; select sleep(" . seconds(300) . "); select nothing_$i; select 'never'");
    $rows = [];
    try {
        do {
            $rows[] = $db->store_result()->fetch_row();
        } while ($db->next_result());
    } catch (\mysqli_sql_exception $e) {
        $rows[] = $e->getCode();
    }
    return [$rows, $db->query("select $i + 1")->fetch_row()];
}, n: 6, ms: 300);

matrix('multi_query and use_result', function (int $i): array {
    $db = mysqli();
    $db->multi_query("select seq + $i, sleep(" . seconds(50) . ") from seq_1_to_3; set @x = 1; select seq, sleep(" . seconds(50) . ') from seq_1_to_3');
    $rows = [];
    do {
        if ($result = $db->use_result()) {
            while ($row = $result->fetch_row()) {
                $rows[] = $row;
            }
            $result->free();
        }
    } while ($db->more_results() && $db->next_result());
    return $rows;
}, n: 6, ms: 300);

mysqli()->query('create table ' . ($ledger = unique('ledger')) . ' (id int auto_increment primary key, who int, what varchar(20), key (who)) engine=innodb');
matrix('transactions that overlap, some rolled back', function (int $i) use ($ledger): array {
    $db = mysqli();
    $watcher = mysqli();
    $seen = fn(\mysqli $link) => \array_column($link->query("select what from $ledger where who = $i order by what")->fetch_all(), 0);
    $db->begin_transaction();
    $db->query("insert into $ledger (who, what) values ($i, 'first')");
    $id = $db->insert_id;
    $db->savepoint('s');
    $db->query("insert into $ledger (who, what) select $i, concat('taken back', sleep(" . seconds(150) . '))');
    $inside = [$seen($db), $seen($watcher), $db->query("select what from $ledger where id = $id and who = $i")->fetch_row()];
    $db->query('rollback to savepoint s');
    $db->query("insert into $ledger (who, what) select $i, concat('last', sleep(" . seconds(150) . '))');
    $i % 2 ? $db->rollback() : $db->commit();
    return [$inside, $seen($watcher)];
}, n: 6, ms: 300);

scenario('a deadlock that the server resolves', function () use ($ledger): array {
    $rows = [1001, 1002];
    $setup = mysqli();
    $setup->query("insert into $ledger (who, what) values (1001, 'a'), (1002, 'b')");
    $change = function (int $mine, int $other) use ($ledger): string {
        $db = mysqli();
        try {
            $db->begin_transaction();
            $db->query("update $ledger set what = 'mine' where who = $mine");
            \usleep(150_000);
            $db->query("update $ledger set what = 'other' where who = $other");
            $db->commit();
            return 'fine';
        } catch (\mysqli_sql_exception $e) {
            $db->rollback();
            return (string) $e->getCode();
        }
    };
    $other = beside(fn() => $change(1002, 1001));
    $codes = [$change(1001, 1002), $other()];
    \sort($codes);
    return $codes;
}, waits: 50);

// `who` is the primary key: an update by it locks the row alone. By the other table's index InnoDB would lock the gap behind the
// row too, and the insert of the next one would wait for the end of this transaction, if it came later.
mysqli()->query('create table ' . ($rows = unique('rows')) . ' (who int primary key, what varchar(20)) engine=innodb');
matrix('a lock that is waited for in vain', function (int $i) use ($rows): array {
    $owner = mysqli();
    $owner->query("insert into $rows (who, what) values ($i, 'x')");
    $owner->begin_transaction();
    $owner->query("update $rows set what = 'mine' where who = $i");
    $db = mysqli();
    $db->query('set innodb_lock_wait_timeout = 1');
    try {
        $db->query("update $rows set what = 'other' where who = $i");
        $code = null;
    } catch (\mysqli_sql_exception $e) {
        $code = $e->getCode();
    }
    $owner->commit();
    return [$code, $db->query("select what from $rows where who = $i")->fetch_row()];
}, n: 2, ms: 1000);

mysqli()->query('set global max_allowed_packet = 67108864');
matrix('16 MB there and back', function (int $i): array {
    $db = mysqli();
    $db->query('create temporary table big (n int, data longblob)');
    $data = \str_pad("blob of $i", 16 << 20, "\0\xff'\n");
    $insert = $db->prepare('insert into big values (?, ?)');
    $null = null;
    $insert->bind_param('ib', $i, $null);
    foreach (\str_split($data, 1 << 20) as $piece) {
        $insert->send_long_data(1, $piece);
    }
    $insert->execute();
    $row = $db->query('select n, data from big')->fetch_row();
    return [$row[0], $row[1] === $data];
}, n: 3, evidence: 'switch');

matrix('many asynchronous queries in one poll', function (int $i): array {
    $links = [];
    foreach ([4, 1, 3, 2] as $link) {
        $links[$link] = mysqli();
        $links[$link]->query("select $i + $link, sleep(" . seconds(75 * $link) . ')', MYSQLI_ASYNC);
    }
    $order = [];
    while ($links) {
        $read = $error = $reject = $links;
        \mysqli_poll($read, $error, $reject, 10);
        foreach ($read as $link) {
            $order[] = $link->reap_async_query()->fetch_row()[0] - $i;
            unset($links[\array_search($link, $links, true)]);
        }
    }
    \sort($order);
    return $order;
}, n: 5, ms: 300);

matrix('change_user, ping and statistics', function (int $i): array {
    $db = mysqli();
    $db->query("set @x = $i + sleep(" . seconds(300) . ')');
    $changed = $db->change_user(env('SPINDLE_MYSQL_USER'), env('SPINDLE_MYSQL_PASSWORD'), env('SPINDLE_MYSQL_DB'));
    return [$changed, $db->query('select @x')->fetch_row(), $db->ping(), \str_starts_with($db->stat(), 'Uptime')];
}, n: 6, ms: 300);

// (several KILLs at one moment may take MariaDB two seconds)
scenario('a connection that another one kills', function (): array {
    $db = mysqli();
    $id = $db->thread_id;
    $other = beside(function () use ($id): bool {
        \usleep(100_000);
        return mysqli()->query("kill $id"); // mysqli::kill() is deprecated from PHP 8.4 on
    });
    try {
        $answer = @$db->query('select sleep(20)')->fetch_row();
    } catch (\mysqli_sql_exception $e) {
        $answer = \in_array($e->getCode(), [2006, 2013, 1927], true); // which one depends on what arrives first
    }
    return [$answer, $other(), mysqli()->query('select 1')->fetch_row()];
}, waits: 50);

matrix('a persistent connection', function (int $i): array {
    $db = new \mysqli('p:' . env('SPINDLE_MYSQL_HOST'), env('SPINDLE_MYSQL_USER'), env('SPINDLE_MYSQL_PASSWORD'), env('SPINDLE_MYSQL_DB'), (int) env('SPINDLE_MYSQL_PORT'));
    return $db->query("select $i * 7, sleep(" . seconds(50) . ')')->fetch_row();
}, n: 8, evidence: 'switch');
