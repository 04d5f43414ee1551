<?php
// needs: postgres peer
namespace Matrix;

$late = \str_replace('port=' . env('SPINDLE_PG_PORT'), 'port=' . slowed(env('SPINDLE_PG_PORT')), env('SPINDLE_PG_CONNECT'));
$connect = static fn() => \pg_connect($late, PGSQL_CONNECT_FORCE_NEW);
$noisy = static function () use ($connect) { $c = $connect(); \pg_query($c, 'set client_min_messages = notice'); return $c; };
check('pg_query', static fn($c, int $n) => \pg_fetch_result(\pg_query($c, "select 'x$n'"), 0, 0), $connect, in: 'pg_query');
check('pg_query_params', static fn($c, int $n) => \pg_fetch_result(\pg_query_params($c, 'select $1', texts("x$n")), 0, 0), $connect, in: 'pg_query_params');
check('pg_query, complaining', static fn($c, int $n) => noisily(fn() => \pg_query($c, "select nothing$n")), $connect, in: 'pg_query');
check('pg_query, with notices', static fn($c, int $n) => noisily(static function () use ($c, $n) { \pg_query($c, "do \$\$ begin raise notice 'notice $n'; end \$\$"); }), $noisy, in: 'pg_query');
check('pg_fetch_object', static function ($r, int $n) { $row = \pg_fetch_object($r, $n - 1, on_demand('public $a;')); return $row->a; }, static fn() => \pg_query($connect(), "select 'a1' as a union all select 'a2' order by 1"), in: 'pg_fetch_object');
check('pg_insert', static function ($c, int $n) { return noisily(fn() => (bool) \pg_insert($c, 'numbers', ['a' => $n, 'b' => "text $n"])); }, static function () use ($connect) { $c = $connect(); \pg_query($c, 'create temporary table numbers (a int, b text)'); return $c; }, static fn($c) => \pg_fetch_result(\pg_query($c, 'select count(*) from numbers'), 0, 0), in: 'pg_insert');
check('pg_copy_from', static fn($c, int $n) => \pg_copy_from($c, 'numbers', texts("$n\ta\n", "$n\tb\n")), static function () use ($connect) { $c = $connect(); \pg_query($c, 'create temporary table numbers (a int, b text)'); return $c; }, static fn($c) => \pg_fetch_result(\pg_query($c, 'select count(*) from numbers'), 0, 0), in: 'pg_copy_from');
check('pg_send_query', static function ($c, int $n) { \pg_send_query($c, "select 'x$n'"); return \pg_fetch_result(\pg_get_result($c), 0, 0); }, $connect, apart: true, in: 'pg_get_result');
check('pg_lo_read_all', static function ($c, int $n) { \pg_query($c, 'begin'); $id = \pg_lo_create($c); $lo = \pg_lo_open($c, $id, 'rw'); \pg_lo_write($lo, text("lob $n")); \pg_lo_seek($lo, 0); $all = printed(static fn() => \pg_lo_read_all($lo)); \pg_query($c, 'rollback'); return $all; }, $connect, apart: true);
check('pg_prepare', static fn($c, int $n) => \get_class(\pg_prepare($c, text("s$n"), text('select 1'))), $connect, in: 'pg_prepare');
check('pg_connect', static fn($_, int $n) => \get_class(\pg_connect(text($late), PGSQL_CONNECT_FORCE_NEW)), in: 'pg_connect');
