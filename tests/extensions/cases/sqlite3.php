<?php
namespace Matrix;

$db = static function () {
    $db = new \SQLite3(':memory:');
    $db->exec('create table t(a); insert into t values (3), (1), (2)');
    $db->createFunction('slow', static function ($x) { pause(); return "slow $x"; });
    $db->createAggregate('joined', static function ($all, $row, $x) { pause(); return "$all,$x"; }, static function ($all) { pause(); return $all; });
    $db->createCollation('turned', static function ($a, $b) { pause(); return $b <=> $a; });
    return $db;
};
check('SQLite3::querySingle', static fn($db, int $n) => $db->querySingle("select slow(a || '-$n') from t"), $db, in: 'SQLite3::querySingle');
check('SQLite3Result::fetchArray', static function ($db, int $n) { $r = $db->query("select slow(a || '-$n') x from t"); $all = []; while ($row = $r->fetchArray(SQLITE3_NUM)) $all[] = $row[0]; return $all; }, $db, in: ['SQLite3Result::fetchArray', 'SQLite3::query']);
check('one result', static fn($r, int $n) => $r->fetchArray(SQLITE3_NUM), static fn() => $db()->query('select slow(a) from t'), in: 'SQLite3Result::fetchArray');
check('an aggregate', static fn($db, int $n) => $db->querySingle("select joined(a || '-$n') from t"), $db, in: 'SQLite3::querySingle');
check('a collation', static fn($db, int $n) => $db->querySingle("select cast(a as text) x from t where a <> $n order by x collate turned"), $db, in: 'SQLite3::querySingle');
check('SQLite3::exec', static fn($db, int $n) => $db->exec("insert into t select slow(a) from t where a <= $n"), $db, static fn($db) => $db->querySingle('select count(*) from t'), in: 'SQLite3::exec');
check('SQLite3Stmt::execute', static function ($s, int $n) { $s->bindValue(':x', text($n)); return $s->execute()->fetchArray(SQLITE3_NUM); }, static fn() => $db()->prepare('select slow(:x)'), apart: true, in: ['SQLite3Stmt::execute', 'SQLite3Result::fetchArray']);
check('SQLite3::setAuthorizer', static function ($db, int $n) { $db->setAuthorizer(static function (...$all) { pause(); return \SQLite3::OK; }); return $db->querySingle("select a from t where a = $n"); }, $db, in: 'SQLite3::querySingle');
check('warnings', static fn($db, int $n) => noisily(fn() => $db->query("select nothing$n")), $db, in: 'SQLite3::query');
check('SQLite3::escapeString', static fn($_, int $n) => \SQLite3::escapeString(text("it's $n")), in: 'SQLite3::escapeString');
