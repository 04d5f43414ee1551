<?php
// needs: mariadb ext:mysqli
namespace Matrix;

matrix('query', function (int $i): array {
    return mysqli()->query("select $i * 2 as answer, sleep(" . seconds() . ') as slept')->fetch_all(MYSQLI_ASSOC);
});

matrix('query over a Unix socket', function (int $i): array {
    return mysqli(env('SPINDLE_MYSQL_SOCKET'))->query("select $i + 7 as answer, sleep(" . seconds() . ') as slept')->fetch_all(MYSQLI_ASSOC);
});

matrix('prepared statements', function (int $i): array {
    $db = mysqli();
    $statement = $db->prepare('select ? + 1, concat(?, ?), sleep(?)');
    $rows = [];
    foreach (['a', 'b'] as $word) {
        $wait = seconds(250);
        $statement->bind_param('issd', $i, $word, $i, $wait);
        $statement->execute();
        $rows[] = $statement->get_result()->fetch_row();
    }
    return $rows;
});

matrix('multi_query', function (int $i): array {
    $db = mysqli();
    $db->multi_query("select $i; select sleep(" . seconds(250) . "); select 'middle'; select sleep(" . seconds(250) . "); select $i + 1");
    $rows = [];
    do {
        $rows[] = $db->store_result()->fetch_row();
    } while ($db->next_result());
    return $rows;
});

matrix('MYSQLI_ASYNC and mysqli_poll', function (int $i): array {
    $links = [];
    foreach ([0, 1, 2] as $link) {
        $links[$link] = mysqli();
        $links[$link]->query("select $i + $link, sleep(" . seconds(200 + 100 * $link) . ')', MYSQLI_ASYNC);
    }
    $answers = [];
    $polls = 0;
    while (\count($answers) < 3) {
        $read = $error = $reject = \array_diff_key($links, $answers);
        if (\mysqli_poll($read, $error, $reject, 5)) {
            foreach ($read as $link) {
                $answers[\array_search($link, $links, true)] = $link->reap_async_query()->fetch_row()[0];
            }
        }
        $polls++;
    }
    \ksort($answers);
    return [$answers, $polls <= 3];
}, n: 8, ms: 400);

matrix('mysqli_poll that times out', function (int $i): array {
    $db = mysqli();
    $db->query('select sleep(' . (is_async() ? seconds() : 0.2) . ')', MYSQLI_ASYNC);
    $read = $error = $reject = [$db];
    $early = \mysqli_poll($read, $error, $reject, 0, 5000);
    $read = $error = $reject = [$db];
    $late = \mysqli_poll($read, $error, $reject, 5);
    return [$early, $late, $db->reap_async_query()->fetch_row()];
}, n: 10);

matrix('errors', function (int $i): array {
    $db = mysqli();
    $db->query('select sleep(' . seconds() . ')');
    try {
        $db->query("select nothing_$i");
        $code = null;
    } catch (\mysqli_sql_exception $e) {
        $code = $e->getCode();
    }
    return [$code, $db->query("select $i")->fetch_row()];
}, n: 10);
