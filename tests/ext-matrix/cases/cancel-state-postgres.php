<?php
// needs: postgres ext:pgsql ext:pdo_pgsql ext:posix
// The same as cancel-state.php.
namespace Matrix;

use Async;

$pg = fn() => \pg_connect(env('SPINDLE_PG_CONNECT'), PGSQL_CONNECT_FORCE_NEW);
$ask = fn($db) => ($result = \pg_query($db, "select 'right'")) ? \pg_fetch_result($result, 0, 0) : false;

after_cancellation('pg_query', $pg, fn($db) => \pg_query($db, "select 'WRONG', pg_sleep(1)"), $ask);
after_cancellation('pg_query_params', $pg, fn($db) => \pg_query_params($db, 'select $1, pg_sleep(1)', ['WRONG']), $ask);
after_cancellation('pg_get_result', $pg, function ($db): void {
    \pg_send_query($db, "select 'WRONG', pg_sleep(1)");
    \pg_get_result($db);
}, $ask);
after_cancellation('a big result', $pg, fn($db) => \pg_query($db, "select 'WRONG', n, pg_sleep(0.001) from generate_series(1, 400) n"), $ask);

foreach (["'WRONG', pg_sleep(1)", "'WRONG', n, pg_sleep(0.001) from generate_series(1, 400) n"] as $n => $what) {
    // the answer is a count, which tells whose it is
    after_cancellation(['PDO: waiting', 'PDO: in a result'][$n] . ', then exec', pdo_pgsql(...), fn($db) => $db->query("select $what"),
        fn($db) => $db->exec('create temp table ' . unique('t') . ' as select n from generate_series(1, 3) n') === 3 ? 'right' : 'WRONG');
}

with_coroutines('while C code that no function has called waits for an answer', function (Check $check): void {
    $ways = [
        'a statement that is freed' => function (\PDO $db): \Closure {
            $statement = $db->prepare('select ?::text');
            $statement->execute(['WRONG']);
            return function () use (&$statement): void { $statement = null; };
        },
        'foreach over a cursor' => function (\PDO $db): \Closure {
            $statement = $db->prepare("select 'WRONG' from generate_series(1, 5)", [\PDO::ATTR_CURSOR => \PDO::CURSOR_SCROLL]);
            $statement->execute();
            return function () use ($statement): void { foreach ($statement as $row); };
        },
        'iterator_to_array() of a cursor' => function (\PDO $db): \Closure {
            $statement = $db->prepare("select 'WRONG' from generate_series(1, 5)", [\PDO::ATTR_CURSOR => \PDO::CURSOR_SCROLL]);
            $statement->execute();
            return fn() => \iterator_to_array($statement);
        },
        'a large object' => function (\PDO $db): \Closure {
            $stream = $db->pgsqlLOBOpen($object = $db->pgsqlLOBCreate(), 'w');
            \fwrite($stream, 'WRONG');
            \fclose($stream);
            $stream = $db->pgsqlLOBOpen($object, 'r');
            return fn() => \fread($stream, 8192);
        },
    ];
    foreach ($ways as $name => $prepare) {
        $db = pdo_pgsql();
        $server = (int) $db->query('select pg_backend_pid()')->fetchColumn();
        $db->beginTransaction();
        $waits = $prepare($db);
        \posix_kill($server, SIGSTOP);
        $job = Async\spawn($waits);
        do {
            Async\suspend();
        } while ($job->getAwaitingInfo() === []);
        $job->cancel();
        do {
            Async\suspend();
        } while (!$job->isCompleted() && $job->getAwaitingInfo() !== []);
        \posix_kill($server, SIGCONT);
        try {
            finished($job);
        } catch (Async\CancellationException | \PDOException) {
        }
        try {
            $answer = $db->query("select 'right'")->fetchAll(\PDO::FETCH_COLUMN);
        } catch (\PDOException) {
            $answer = 'an error';
        }
        if (!\in_array($answer, [['right'], 'an error'], true)) {
            $check->problem("after $name: " . \json_encode($answer));
        }
    }
});
