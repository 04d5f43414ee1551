<?php
// needs: postgres ext:pgsql
// PostgreSQL through the native functions, beyond single queries.
namespace Matrix;

function pg(string $more = '')
{
    return \pg_connect(env('SPINDLE_PG_CONNECT') . $more, PGSQL_CONNECT_FORCE_NEW);
}

matrix('many named statements in one connection', function (int $i): array {
    $db = pg();
    for ($n = 0; $n < 20; $n++) {
        \pg_prepare($db, "s$n", "select $n * 1000 + \$1::int, pg_sleep(\$2)");
    }
    $answers = [];
    foreach ([7, 19, 0, 7, 12] as $n) {
        $answers[] = \pg_fetch_result(\pg_execute($db, "s$n", [$i, seconds(60)]), 0, 0);
    }
    return [$answers, \pg_fetch_result(\pg_query($db, 'select count(*) from pg_prepared_statements'), 0, 0)];
}, n: 6, ms: 300);

matrix('over a Unix socket, and by the second of two hosts', function (int $i): array {
    $socket = \pg_connect(\preg_replace('/host=\S+/', 'host=' . env('SPINDLE_PG_SOCKET_DIR'), env('SPINDLE_PG_CONNECT')), PGSQL_CONNECT_FORCE_NEW);
    $second = \pg_connect(\preg_replace(['/host=(\S+)/', '/port=(\S+)/'], ['host=127.0.0.1,$1', 'port=1,$1'], env('SPINDLE_PG_CONNECT')), PGSQL_CONNECT_FORCE_NEW);
    return \array_map(fn($db) => \pg_fetch_row(\pg_query_params($db, 'select $1::int, inet_server_addr(), pg_sleep($2)', [$i, seconds(150)])), [$socket, $second]);
}, n: 6, ms: 300);

\pg_query($admin = pg(), 'create table ' . ($ledger = unique('ledger')) . ' (who int, what text)');
matrix('transactions that overlap, some rolled back', function (int $i) use ($ledger): array {
    $db = pg();
    $watcher = pg();
    $seen = fn($link) => \pg_fetch_all_columns(\pg_query($link, "select what from $ledger where who = $i order by what"));
    \pg_query($db, "begin; insert into $ledger values ($i, 'first')");
    \pg_query($db, "savepoint s; insert into $ledger values ($i, 'taken back'); select pg_sleep(" . seconds(150) . ')');
    $inside = [$seen($db), $seen($watcher), \pg_transaction_status($db) === PGSQL_TRANSACTION_INTRANS];
    \pg_query($db, 'rollback to savepoint s');
    \pg_query($db, "insert into $ledger select $i, 'last' from (select pg_sleep(" . seconds(150) . ')) s');
    \pg_query($db, $i % 2 ? 'rollback' : 'commit');
    return [$inside, $seen($watcher), \pg_transaction_status($db) === PGSQL_TRANSACTION_IDLE];
}, n: 6, ms: 300);

scenario('a deadlock that the server resolves', function () use ($ledger): array {
    $lock = function (string $mine, string $other): string {
        $db = pg(" options='-c deadlock_timeout=300ms'");
        \pg_query($db, "begin; select pg_advisory_xact_lock(hashtext('$mine'))");
        $held = "select count(*) from pg_locks where locktype = 'advisory' and objid::bigint = hashtext('$other')::bigint & 4294967295";
        while (\pg_fetch_result(\pg_query($db, $held), 0, 0) == 0) {
            \usleep(10_000);
        }
        \pg_send_query($db, "select pg_advisory_xact_lock(hashtext('$other'))");
        $state = \pg_result_error_field(\pg_get_result($db), PGSQL_DIAG_SQLSTATE) ?? 'fine';
        \pg_query($db, 'rollback');
        return $state;
    };
    $a = unique('a');
    $b = unique('b');
    $other = beside(fn() => $lock($b, $a));
    $states = [$lock($a, $b), $other()];
    \sort($states);
    return $states;
}, waits: 50);

matrix('100,000 rows', function (int $i): array {
    $db = pg();
    $result = \pg_query($db, "select n + $i as n, md5((n + $i)::text) as word from generate_series(1, 100000) n");
    $sum = 0;
    $hash = \hash_init('md5');
    while ($row = \pg_fetch_row($result)) {
        $sum += $row[0];
        \hash_update($hash, $row[1]);
    }
    return [\pg_num_rows($result), $sum, \hash_final($hash)];
}, n: 3, evidence: 'switch');

matrix('two cursors in one transaction', function (int $i): array {
    $db = pg();
    \pg_query($db, 'begin');
    \pg_query($db, "declare up cursor for select n + $i from generate_series(1, 1000) n");
    \pg_query($db, "declare down scroll cursor for select n * 2 from generate_series(1000, 1, -1) n");
    $sums = ['up' => 0, 'down' => 0];
    for ($n = 0; $n < 10; $n++) {
        foreach ($sums as $cursor => $_) {
            $sums[$cursor] += \array_sum(\pg_fetch_all_columns(\pg_query($db, "fetch 100 from $cursor")));
        }
        \pg_query($db, 'select pg_sleep(' . seconds(30) . ')');
    }
    $back = \pg_fetch_result(\pg_query($db, 'fetch backward 1 from down'), 0, 0);
    \pg_query($db, 'commit');
    return [$sums, $back];
}, n: 6, ms: 300);

matrix('copy line by line', function (int $i): array {
    $db = pg();
    // the default takes its time, so the copy is waited for
    \pg_query($db, 'create temp table c (n int, word text, slept text default pg_sleep(' . seconds(150) . ')::text)');
    \pg_query($db, 'copy c (n, word) from stdin');
    $put = [\pg_put_line($db, "1\tfirst $i\n"), \pg_put_line($db, "2\tsecond $i\n"), \pg_put_line($db, "\\.\n"), \pg_end_copy($db)];
    return [$put, \pg_fetch_all(\pg_query($db, 'select n, word from c order by n'))];
}, n: 6, ms: 300);

matrix('copy of 30,000 lines, in and out', function (int $i): array {
    $db = pg();
    \pg_query($db, 'create temp table c (n int, word text)');
    $lines = \array_map(fn($n) => "$n\tword $i.$n\n", \range(1, 30_000));
    return [\pg_copy_from($db, 'c', $lines), \pg_copy_to($db, 'c') === $lines];
}, n: 3, evidence: 'switch');

matrix('listeners, each with a notifier', function (int $i): array {
    $channel = unique("channel_$i");
    $db = pg();
    $own = \pg_get_pid($db);
    \pg_query($db, "listen $channel");
    $other = beside(function () use ($channel): void {
        $db = pg();
        foreach (['one', 'two', 'three'] as $word) {
            \usleep(ms(100) * 1000);
            \pg_query($db, "notify $channel, '$word'");
        }
    });
    $payloads = [];
    while (\count($payloads) < 3) {
        if ($notice = \pg_get_notify($db)) {
            $payloads[] = [$notice['message'] === $channel, $notice['payload'], $notice['pid'] === $own];
            continue;
        }
        $read = [\pg_socket($db)];
        $write = $except = null;
        \stream_select($read, $write, $except, 10);
    }
    $other();
    return [$payloads, \pg_get_notify($db)];
}, n: 6, ms: 300);

matrix('the asynchronous functions', function (int $i): array {
    $db = pg();
    $states = [\pg_send_prepare($db, 'p', 'select $1::int * 3, pg_sleep($2)'), \pg_result_status(\pg_get_result($db)), \pg_get_result($db)];
    $states[] = \pg_send_execute($db, 'p', [$i, seconds(150)]);
    $states[] = \pg_connection_busy($db);
    $states[] = \pg_fetch_result(\pg_get_result($db), 0, 0);
    $states[] = \pg_get_result($db);
    $states[] = \pg_connection_busy($db);
    \pg_send_query_params($db, 'select $1::text, pg_sleep($2)', ["text $i", seconds(150)]);
    $states[] = \pg_transaction_status($db) === PGSQL_TRANSACTION_ACTIVE;
    while (\pg_connection_busy($db)) {
        \usleep(5000);
    }
    $states[] = \pg_fetch_result(\pg_get_result($db), 0, 0);
    return $states;
}, n: 6, ms: 300);

matrix('pg_cancel_query, and the connection afterwards', function (int $i): array {
    $db = pg();
    \pg_send_query($db, 'select pg_sleep(20)');
    \usleep(ms(300) * 1000);
    $cancelled = \pg_cancel_query($db); // takes what is left of the answer away
    return [$cancelled, \pg_get_result($db), \pg_fetch_result(\pg_query($db, "select $i + 1"), 0, 0), \pg_ping($db)];
}, n: 6, ms: 300);

matrix('one connection cancels another one by SQL', function (int $i): array {
    $db = pg();
    $pid = \pg_get_pid($db);
    $other = beside(function () use ($pid): string {
        \usleep(ms(300) * 1000);
        return \pg_fetch_result(\pg_query_params(pg(), 'select pg_cancel_backend($1)', [$pid]), 0, 0);
    });
    \pg_send_query($db, 'select pg_sleep(20)');
    $state = \pg_result_error_field(\pg_get_result($db), PGSQL_DIAG_SQLSTATE);
    return [$state, $other(), \pg_get_result($db), \pg_fetch_result(\pg_query($db, "select $i"), 0, 0)];
}, n: 6, ms: 300);

matrix('a connection that the server ends, and pg_connection_reset', function (int $i): array {
    $db = pg();
    $pid = \pg_get_pid($db);
    $other = beside(function () use ($pid): string {
        \usleep(ms(300) * 1000);
        return \pg_fetch_result(\pg_query_params(pg(), 'select pg_terminate_backend($1)', [$pid]), 0, 0);
    });
    $answer = [@\pg_query($db, 'select pg_sleep(20)'), \pg_connection_status($db) === PGSQL_CONNECTION_BAD, $other()];
    return [...$answer, \pg_connection_reset($db), \pg_get_pid($db) !== $pid, \pg_fetch_result(\pg_query($db, "select $i"), 0, 0)];
}, n: 6, ms: 300);

matrix('statement_timeout and lock_timeout', function (int $i): array {
    $state = function ($db, string $query): ?string {
        \pg_send_query($db, $query);
        return \pg_result_error_field(\pg_get_result($db), PGSQL_DIAG_SQLSTATE);
    };
    $db = pg(" options='-c statement_timeout=200ms'");
    $first = $state($db, 'select pg_sleep(20)');
    \pg_query($db, 'set statement_timeout = 0; set lock_timeout = ' . ms(200));
    $key = \crc32(unique('lock'));
    \pg_query($owner = pg(), "select pg_advisory_lock($key)");
    return [$first, $state($db, "select pg_advisory_lock($key)"), \pg_fetch_result(\pg_query($db, "select $i"), 0, 0)];
}, n: 6, ms: 400);

matrix('large objects', function (int $i): array {
    $db = pg();
    $data = \str_repeat("large object $i ", 40_000);
    \pg_query($db, 'begin');
    $oid = \pg_lo_create($db);
    $object = \pg_lo_open($db, $oid, 'w');
    $written = \pg_lo_write($object, $data);
    \pg_lo_close($object);
    $object = \pg_lo_open($db, $oid, 'r');
    $where = [\pg_lo_seek($object, -16, PGSQL_SEEK_END), \pg_lo_tell($object), \pg_lo_read($object, 16), \pg_lo_seek($object, 0, PGSQL_SEEK_SET)];
    $same = \pg_lo_read($object, \strlen($data)) === $data;
    \pg_lo_seek($object, 0, PGSQL_SEEK_SET);
    \ob_start();
    \pg_lo_read_all($object);
    $all = \ob_get_clean() === $data;
    $exported = \pg_lo_export($db, $oid, $file = scratch('lo'));
    \pg_lo_unlink($db, $oid);
    $oid = \pg_lo_import($db, $file);
    $imported = \pg_lo_read(\pg_lo_open($db, $oid, 'r'), 24);
    \pg_lo_unlink($db, $oid);
    \pg_query($db, 'commit');
    return [$written, $where, $same, $all, $exported, $imported];
}, n: 6, evidence: 'switch');

\pg_query($admin, 'create table ' . ($notes = unique('notes')) . ' (n int, word text, slept text default pg_sleep(' . seconds(150) . ')::text)');
matrix('pg_insert, pg_update, pg_select, pg_delete', function (int $i) use ($notes): array {
    // (these find no temporary tables)
    $db = pg();
    $done = [\pg_insert($db, $notes, ['n' => $i, 'word' => 'one']), \pg_insert($db, $notes, ['n' => $i + 100, 'word' => 'two']),
        \pg_update($db, $notes, ['word' => "changed $i"], ['n' => $i]), \pg_delete($db, $notes, ['n' => $i + 100])];
    return [\array_map(\boolval(...), $done), \pg_select($db, $notes, ['n' => $i]), \array_keys(\pg_meta_data($db, $notes))];
}, n: 6, ms: 300);

matrix('notices', function (int $i): array {
    $db = pg();
    \pg_query($db, "do \$\$ begin perform pg_sleep(" . seconds(150) . "); raise notice 'notice of %', $i; perform pg_sleep(" . seconds(150) . "); end \$\$");
    return \pg_last_notice($db, PGSQL_NOTICE_ALL);
}, n: 6, ms: 300);

matrix('pg_pconnect', function (int $i): array {
    $db = \pg_pconnect(env('SPINDLE_PG_CONNECT') . ' application_name=matrix_persistent');
    return [\pg_fetch_result(\pg_query_params($db, 'select $1::int * 5, pg_sleep($2)', [$i, seconds(50)]), 0, 0), \pg_parameter_status($db, 'application_name')];
}, n: 8, evidence: 'switch');
