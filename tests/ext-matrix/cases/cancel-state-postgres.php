<?php
// needs: postgres ext:pgsql ext:pdo_pgsql
// The same as cancel-state.php.
namespace Matrix;

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
