<?php
// needs: postgres ext:pgsql
// PostgreSQL through the native functions.
namespace Matrix;

function pg()
{
    return \pg_connect(env('SPINDLE_PG_CONNECT'), PGSQL_CONNECT_FORCE_NEW);
}

matrix('pg_query', function (int $i): array {
    return \pg_fetch_all(\pg_query(pg(), "select $i * 2 as answer from (select pg_sleep(" . seconds() . ')) s'));
});

matrix('pg_query_params and pg_execute', function (int $i): array {
    $db = pg();
    \pg_query_params($db, 'select pg_sleep($1)', [seconds(250)]);
    \pg_prepare($db, 'plus', 'select $1::int + $2::int, pg_sleep($3)');
    return \pg_fetch_row(\pg_execute($db, 'plus', [$i, 100, seconds(250)]));
});

matrix('pg_send_query and pg_get_result', function (int $i): array {
    $db = pg();
    \pg_send_query($db, "select $i; select pg_sleep(" . seconds() . "); select $i + 1");
    $values = [];
    while ($result = \pg_get_result($db)) {
        $values[] = \pg_fetch_result($result, 0, 0);
    }
    return $values;
});

matrix('pg_socket in stream_select', function (int $i): array {
    $db = pg();
    \pg_send_query($db, "select $i from (select pg_sleep(" . seconds() . ')) s');
    do { // the answer may be there before the first look at it
        $read = [\pg_socket($db)];
        $write = $except = null;
        \stream_select($read, $write, $except, 10);
        \pg_consume_input($db);
    } while (\pg_connection_busy($db));
    return [\pg_fetch_result(\pg_get_result($db), 0, 0)];
});

matrix('pg_connect with PGSQL_CONNECT_ASYNC', function (int $i): string {
    $db = \pg_connect(env('SPINDLE_PG_CONNECT'), PGSQL_CONNECT_ASYNC | PGSQL_CONNECT_FORCE_NEW);
    while (!\in_array($state = \pg_connect_poll($db), [PGSQL_POLLING_OK, PGSQL_POLLING_FAILED], true)) {
        $read = $state === PGSQL_POLLING_READING ? [\pg_socket($db)] : null;
        $write = $state === PGSQL_POLLING_WRITING ? [\pg_socket($db)] : null;
        $except = null;
        if ($read || $write) {
            \stream_select($read, $write, $except, 5);
        }
    }
    \pg_query($db, 'select pg_sleep(' . seconds() . ')');
    return \pg_fetch_result(\pg_query($db, "select $i * 3"), 0, 0);
});

matrix('pg_copy_from and pg_copy_to', function (int $i): array {
    $db = pg();
    \pg_query($db, 'create temp table c (n int, word text)');
    \pg_copy_from($db, 'c', \array_map(fn($n) => "$n\tword $i.$n\n", \range(1, 500)));
    \pg_query($db, 'select pg_sleep(' . seconds() . ')');
    return [\count($lines = \pg_copy_to($db, 'c')), \md5(\implode($lines))];
}, n: 10);

matrix('a row lock', function (int $i) : bool {
    // all but the first wait for one before them
    $db = pg();
    \pg_query($db, 'begin');
    \pg_query($db, 'select pg_advisory_xact_lock(4711)');
    \pg_query($db, 'select pg_sleep(' . seconds(100) . ')');
    return \pg_query($db, 'commit') !== false;
}, n: 5, ms: 400, evidence: 'ticks');

scenario('pg_get_notify', function (): array {
    $channel = unique('channel');
    $db = pg();
    \pg_query($db, "listen $channel");
    $other = beside(function () use ($channel): void {
        \usleep(100_000);
        \pg_query(pg(), "notify $channel, 'hello'");
    });
    $read = [\pg_socket($db)];
    $write = $except = null;
    $ready = \stream_select($read, $write, $except, 5);
    \pg_consume_input($db);
    $notice = \pg_get_notify($db, PGSQL_ASSOC);
    $other();
    return [$ready, $notice['message'] === $channel, $notice['payload']];
}, waits: 25);
