<?php
// needs: postgres peer
// needs: ext:pdo
namespace Matrix;

$late = \str_replace('port=' . env('SPINDLE_PG_PORT'), 'port=' . slowed(env('SPINDLE_PG_PORT')), env('SPINDLE_PG_DSN'));
$connect = static fn() => new \PDO($late);
check('query', static fn($db, int $n) => $db->query("select 'x$n'")->fetchColumn(), $connect, in: 'PDO::query');
check('execute', static function ($db, int $n) { $s = $db->prepare('select ?'); $s->execute(texts("x$n")); return $s->fetchColumn(); }, $connect, in: 'PDOStatement::execute');
check('execute, one statement', static function ($s, int $n) { return $s->execute(["x$n"]); }, static fn() => $connect()->prepare('select ?'), in: 'PDOStatement::execute');
check('FETCH_FUNC', static fn($db, int $n) => $db->query("select 'x$n' union all select 'y'")->fetchAll(\PDO::FETCH_FUNC, static function ($x) { pause(); return "<$x>"; }), $connect, in: 'PDOStatement::fetchAll');
check('pgsqlCopyFromArray', static fn($db, int $n) => $db->pgsqlCopyFromArray('numbers', texts("$n\ta\n", "$n\tb\n")), static function () use ($connect) { $db = $connect(); $db->exec('create temporary table numbers (a int, b text)'); return $db; }, static fn($db) => $db->query('select count(*) from numbers')->fetchColumn(), in: 'PDO::pgsqlCopyFromArray');
check('pgsqlCopyFromFile', static fn($db, int $n) => $db->pgsqlCopyFromFile('numbers', slow("$n\ta\n$n\tb\n")), static function () use ($connect) { $db = $connect(); $db->exec('create temporary table numbers (a int, b text)'); return $db; }, static fn($db) => $db->query('select count(*) from numbers')->fetchColumn(), in: 'PDO::pgsqlCopyFromFile');
check('a LOB', static function ($db, int $n) { $db->beginTransaction(); $id = $db->pgsqlLOBCreate(); $lo = $db->pgsqlLOBOpen($id, 'w'); $count = \stream_copy_to_stream(slow_stream("lob $n"), $lo); $lo = null; $db->rollBack(); return $count; }, $connect, apart: true, anywhere: true);
check('warnings', static function ($db, int $n) { $db->setAttribute(\PDO::ATTR_ERRMODE, \PDO::ERRMODE_WARNING); return noisily(fn() => $db->query("select nothing$n")); }, $connect, in: 'PDO::query');
check('a transaction', static function ($db, int $n) { $db->exec("insert into numbers select $n"); return 0; }, static function () use ($connect) { $db = $connect(); $db->exec('create temporary table numbers (a int)'); return $db; }, static fn($db) => $db->query('select count(*) from numbers')->fetchColumn(), in: 'PDO::exec');
