<?php
// needs: mariadb peer
// needs: ext:pdo
namespace Matrix;

$late = \str_replace('port=' . env('SPINDLE_MYSQL_PORT'), 'port=' . slowed(env('SPINDLE_MYSQL_PORT')), env('SPINDLE_MYSQL_DSN'));
$connect = static fn(array $options = []) => new \PDO($late, env('SPINDLE_MYSQL_USER'), env('SPINDLE_MYSQL_PASSWORD'), $options);
$make = static fn() => $connect();
check('query', static fn($db, int $n) => $db->query("select concat('x$n')")->fetchColumn(), $make, in: 'PDO::query');
check('execute', static function ($db, int $n) { $s = $db->prepare('select concat(?)'); $s->execute(texts("x$n")); return $s->fetchColumn(); }, static fn() => $connect([\PDO::ATTR_EMULATE_PREPARES => false]), in: 'PDOStatement::execute');
check('FETCH_FUNC', static fn($db, int $n) => $db->query("select 'x$n' union all select 'y'")->fetchAll(\PDO::FETCH_FUNC, static function ($x) { pause(); return "<$x>"; }), $make, in: 'PDOStatement::fetchAll');
check('unbuffered', static function ($db, int $n) { $s = $db->query("select concat('x$n')"); return $s->fetchAll(\PDO::FETCH_COLUMN); }, static fn() => $connect([\PDO::MYSQL_ATTR_USE_BUFFERED_QUERY => false]), apart: true, in: ['PDO::query', 'PDOStatement::fetchAll']);
check('exec', static function ($db, int $n) { return $db->exec("insert into numbers select $n"); }, static function () use ($connect) { $db = $connect(); $db->exec('create temporary table numbers (a int)'); return $db; }, static fn($db) => $db->query('select count(*) from numbers')->fetchColumn(), in: 'PDO::exec');
check('a wrong query', static fn($db, int $n) => $db->query("select nothing$n"), $make, in: 'PDO::query');
