<?php
// needs: ext:pdo
namespace Matrix;

$db = static function () {
    $db = new \PDO('sqlite::memory:');
    $db->exec('create table t(a); insert into t values (3), (1), (2)');
    $db->sqliteCreateFunction('slow', static function ($x) use ($db) { pause(); return "slow $x"; });
    $db->sqliteCreateAggregate('joined', static function ($all, $row, $x) { pause(); return "$all,$x"; }, static function ($all) { pause(); return $all; });
    $db->sqliteCreateCollation('turned', static function ($a, $b) { pause(); return $b <=> $a; });
    return $db;
};
check('a function', static fn($db, int $n) => $db->query("select slow(a || '-$n') from t")->fetchAll(\PDO::FETCH_COLUMN), $db, in: ['PDO::query', 'PDOStatement::fetchAll']);
check('a function, one statement', static function ($s, int $n) { $s->execute([$n]); return 0; }, static fn() => (static function ($db) { return $db->prepare('insert into t values (slow(?))'); })($db()), in: 'PDOStatement::execute');
check('an aggregate', static fn($db, int $n) => $db->query("select joined(a || '-$n') from t")->fetchColumn(), $db, in: ['PDO::query', 'PDOStatement::fetchColumn']);
check('a collation', static fn($db, int $n) => $db->query("select cast(a as text) x from t where a <> $n order by x collate turned")->fetchAll(\PDO::FETCH_COLUMN), $db, in: ['PDO::query', 'PDOStatement::fetchAll']);
check('writing', static fn($db, int $n) => $db->exec("insert into t select slow(a) from t where a <= $n"), $db, static fn($db) => $db->query('select count(*) from t')->fetchColumn(), in: 'PDO::exec');
