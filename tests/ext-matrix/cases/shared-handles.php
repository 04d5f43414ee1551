<?php
// needs: postgres mariadb redis peer ext:pdo_pgsql ext:pdo_mysql ext:mysqli ext:redis ext:curl ext:pdo_sqlite
// One handle, several coroutines: each has its turn, each gets its own answer, closing is safe.
namespace Matrix;

use Async;

$pgsql = pdo_pgsql();
matrix('one PDO-pgsql connection', function (int $i) use ($pgsql): array {
    return $pgsql->query("select $i * 2, pg_sleep(" . seconds(50) . ')')->fetch(\PDO::FETCH_NUM);
}, n: 10, evidence: 'ticks');

$mysql = pdo_mysql();
matrix('one PDO-mysql connection', function (int $i) use ($mysql): array {
    return $mysql->query("select $i * 2, sleep(" . seconds(50) . ')')->fetchAll(\PDO::FETCH_NUM);
}, n: 10, evidence: 'ticks');

$mysqli = mysqli();
matrix('one mysqli connection', function (int $i) use ($mysqli): array {
    return $mysqli->query("select $i * 2, sleep(" . seconds(50) . ')')->fetch_row();
}, n: 10, evidence: 'ticks');

matrix('statements of one mysqli connection, by their constructor', function (int $i) use ($mysqli): array {
    $statement = new \mysqli_stmt($mysqli, "do $i, sleep(?)");
    return [$statement->execute([seconds(50)]), $statement->param_count];
}, n: 10, evidence: 'ticks');

// The drivers' own classes extend PDO in other extensions than PDO's.
if (PHP_VERSION_ID >= 80400) {
    $mysql_access = [env('SPINDLE_MYSQL_DSN'), env('SPINDLE_MYSQL_USER'), env('SPINDLE_MYSQL_PASSWORD')];
    $postgres = fn(\Pdo\Pgsql $db, int $i): array => $db->query("select $i * 2, pg_sleep(" . seconds(50) . ')')->fetch(\PDO::FETCH_NUM);
    $mariadb = fn(\Pdo\Mysql $db, int $i): array => $db->query("select $i * 2, sleep(" . seconds(50) . ')')->fetchAll(\PDO::FETCH_NUM);
    foreach ([
        'Pdo\Pgsql' => [new \Pdo\Pgsql(env('SPINDLE_PG_DSN')), $postgres],
        'PDO::connect() to PostgreSQL' => [\PDO::connect(env('SPINDLE_PG_DSN')), $postgres],
        'Pdo\Mysql' => [new \Pdo\Mysql(...$mysql_access), $mariadb],
        'PDO::connect() to MariaDB' => [\PDO::connect(...$mysql_access), $mariadb],
    ] as $way => [$db, $query]) {
        matrix("one connection of $way", fn(int $i) => $query($db, $i), n: 10, evidence: 'ticks');
    }
    $prepared = new \Pdo\Pgsql(env('SPINDLE_PG_DSN'));
    matrix('statements and methods of one Pdo\Pgsql', function (int $i) use ($prepared): array {
        $statement = $prepared->prepare('select ?::int, pg_sleep(0.02)');
        $statement->execute([$i]);
        return [$statement->fetchColumn(), $prepared->escapeIdentifier("a$i"), $prepared->getNotify()];
    }, n: 10, evidence: 'ticks');
}

$redis = redis();
matrix('one phpredis connection', function (int $i) use ($redis): array {
    $key = unique("key_$i");
    return [$redis->rawCommand('BLPOP', $key, (string) seconds(50)), $redis->set($key, $i, ['ex' => 60]), $redis->get($key), $redis->echo("echo $i")];
}, n: 10, evidence: 'ticks');

$sqlite = new \PDO('sqlite:' . scratch('db'));
$sqlite->exec('create table t (w int, n int)');
matrix('one SQLite connection', function (int $i) use ($sqlite): int {
    for ($n = 0; $n < 10; $n++) {
        $sqlite->exec("insert into t values ($i, $n)");
    }
    return (int) $sqlite->query("select count(*) from t where w = $i")->fetchColumn();
}, n: 10, evidence: 'none');

$curl = curl(http('/' . ms(50) . '/shared'));
matrix('one cURL handle', fn() => \curl_exec($curl), n: 10, evidence: 'ticks');

with_coroutines('a query cancelled while it waits for its turn', function (Check $check) use ($pgsql): void {
    $queries = [];
    for ($i = 0; $i < 3; $i++) {
        $queries[] = Async\spawn(fn() => $pgsql->query("select $i, pg_sleep(2)")->fetchColumn());
    }
    \array_map(in_the_middle(...), $queries);
    $queries[1]->cancel();
    (string) finished($queries[0]) === '0' or $check->problem('the first has another answer');
    (string) finished($queries[2]) === '2' or $check->problem('the last has another answer');
    try {
        finished($queries[1]);
        $check->problem('the second was not cancelled');
    } catch (Async\CancellationException) {
    }
    (string) $pgsql->query('select 4')->fetchColumn() === '4' or $check->problem('the connection is out of step');
});

with_coroutines('two readers of one stream', function (Check $check): void {
    [$a, $b] = \stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    $readers = [Async\spawn(fn() => \fgets($a)), Async\spawn(fn() => \fgets($a)), Async\spawn(fn() => \fgets($a))];
    foreach (["one\n", "two\n", "three\n"] as $line) {
        \array_map(in_the_middle(...), $readers);
        \fwrite($b, $line);
    }
    $lines = \array_map(finished(...), $readers);
    $lines === ["one\n", "two\n", "three\n"] or $check->problem('they read ' . \json_encode($lines));
});

with_coroutines('a reader and a writer at once', function (Check $check): void {
    [$a, $b] = \stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    $reader = Async\spawn(fn() => \fgets($a));
    in_the_middle($reader);
    \fwrite($a, "while a read waits\n");
    \fgets($b) === "while a read waits\n" or $check->problem('the write did not pass');
    \fwrite($b, "answer\n");
    finished($reader) === "answer\n" or $check->problem('the read failed');
});

/** $close() is called while $blocked() waits, and blocks no longer than that: the call fails or ends, and nothing breaks. */
function closed_while_busy(string $name, callable $blocked, callable $close): void
{
    with_coroutines("closing while another waits: $name", function (Check $check) use ($blocked, $close): void {
        $coroutine = Async\spawn(function () use ($blocked): mixed {
            try {
                return @$blocked();
            } catch (Async\CancellationException $e) {
                throw $e;
            } catch (\Throwable $e) {
                return $e::class; // the closed handle's own exception
            }
        });
        in_the_middle($coroutine);
        $start = \hrtime(true);
        finished(Async\spawn($close));
        $answer = finished($coroutine);
        $took = (\hrtime(true) - $start) / 1e9;
        $check->facts = ['it got' => \json_encode($answer, JSON_PARTIAL_OUTPUT_ON_ERROR), 'in' => \round($took, 3)];
        $took < 60 or $check->problem('the blocked call went on');
        $check->warnings = [];
    });
}

foreach (['unix', 'tcp', 'tls'] as $transport) {
    $stream = line_client($transport);
    closed_while_busy("fgets, $transport", fn() => \fgets($stream), fn() => \fclose($stream));
    with_coroutines("closed afterwards: $transport", function (Check $check) use ($stream): void {
        \is_resource($stream) and $check->problem('the stream is still open');
    });
}
[$writing, $full] = \stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
closed_while_busy('fwrite', fn() => \fwrite($writing, \str_repeat('x', 10_000_000)), fn() => \fclose($writing));
$pipe = \popen('exec sleep 2', 'r');
closed_while_busy('a pipe', fn() => \fgets($pipe), fn() => \pclose($pipe));
closed_while_busy('phpredis', fn() => $redis->blPop([unique('empty')], 2), fn() => $redis->close());
closed_while_busy('mysqli', fn() => $mysqli->query('select sleep(2)'), fn() => $mysqli->close());

with_coroutines('closing what has the connection of a call in progress', function (Check $check): void {
    $db = mysqli();
    [$result, $statement, $other] = [$db->query('select 1'), $db->prepare('select 2'), $db->prepare('select 3')];
    $ways = ['a result' => $result->close(...), 'a statement' => $statement->close(...), 'a statement, by its function' => fn() => \mysqli_stmt_close($other)];
    foreach ($ways as $name => $close) {
        $query = Async\spawn(fn() => $db->query('select 7, sleep(0.1)')->fetch_row()[0]);
        do {
            Async\suspend();
        } while ($query->getAwaitingInfo() === []);
        $closing = Async\spawn($close);
        try {
            $answer = finished($query);
            finished($closing);
        } catch (\Exception $e) {
            $answer = $e->getMessage();
        }
        if ($answer !== '7') {
            $check->problem("closing $name beside a query: " . \json_encode($answer));
        }
    }
});
