<?php
// needs: ext:pdo_sqlite
namespace Matrix;

final class Row
{
    public mixed $a = null;
    public array $seen = [];
    public function __construct(public mixed $x = 0) { pause(); $this->seen[] = $this->a; }
    public function __set($name, $value) { pause(); $this->seen[] = "$name=$value"; }
}
$db = static function () { $db = new \PDO('sqlite::memory:'); $db->exec('create table t(a, b); insert into t values (3, 30), (1, 10), (2, 20)'); return $db; };
$statement = static fn() => $db()->prepare('select a, b from t where a <> ?');
$rows = static fn($rows) => \array_map(static fn($row) => [$row->a, $row->x, $row->seen], $rows);
check('FETCH_FUNC', static fn($db, int $n) => $db->query("select a, b from t where a <> $n")->fetchAll(\PDO::FETCH_FUNC, static function ($a, $b) { pause(); return "$a-$b"; }), $db, in: 'PDOStatement::fetchAll');
check('FETCH_CLASS', static fn($db, int $n) => $rows($db->query("select a, b from t where a <> $n")->fetchAll(\PDO::FETCH_CLASS, Row::class, [$n])), $db, in: 'PDOStatement::fetchAll');
check('FETCH_CLASS, first', static fn($db, int $n) => $rows($db->query("select a, b from t where a <> $n")->fetchAll(\PDO::FETCH_CLASS | \PDO::FETCH_PROPS_LATE, Row::class, [$n])), $db, in: 'PDOStatement::fetchAll');
check('fetchObject', static fn($s, int $n) => [$s->fetchObject(Row::class, [1])->a > 0], static function () use ($statement) { $s = $statement(); $s->execute([0]); return $s; }, in: 'PDOStatement::fetchObject');
check('FETCH_INTO', static function ($db, int $n) { $s = $db->query("select b c from t where a = $n", \PDO::FETCH_INTO, $into = new Row); $s->fetch(); return $into->seen; }, $db, in: 'PDOStatement::fetch');
check('bound objects', static function ($db, int $n) { $s = $db->prepare('select a from t where b = ?'); $s->execute([text(10 * $n)]); return $s->fetchAll(\PDO::FETCH_COLUMN); }, $db, in: 'PDOStatement::execute');
check('bound references', static function ($db, int $n) { $s = $db->prepare('select a from t where b = :b'); $b = text(10 * $n); $s->bindParam(text(':b'), $b, \PDO::PARAM_INT); return [noisily(fn() => $s->execute()), $s->fetchAll(\PDO::FETCH_COLUMN)]; }, $db, in: ['PDOStatement::execute', 'PDOStatement::bindParam']);
check('a LOB from a stream', static function ($db, int $n) { $s = $db->prepare('insert into t values (9, ?)'); $s->bindValue(1, slow_stream("lob $n"), \PDO::PARAM_LOB); $s->execute(); return 0; }, $db, static fn($db) => \count($db->query('select b from t where a = 9')->fetchAll(\PDO::FETCH_COLUMN)), in: 'PDOStatement::execute');
check('warnings', static function ($db, int $n) { $db->setAttribute(\PDO::ATTR_ERRMODE, \PDO::ERRMODE_WARNING); return noisily(fn() => $db->query("select nothing$n")); }, $db, in: 'PDO::query');
check('debugDumpParams', static fn($s, int $n) => printed(static fn() => $s->debugDumpParams()), $statement, in: 'PDOStatement::debugDumpParams');
check('PDO::quote', static fn($db, int $n) => $db->quote(text("it's $n")), $db, in: 'PDO::quote');
check('foreach', static function ($s, int $n) { $s->execute([$n]); foreach ($s as $row) $all[] = $row; return \count($all); }, static function () use ($statement) { $s = $statement(); $s->setFetchMode(\PDO::FETCH_CLASS, Row::class); return $s; }, apart: true, anywhere: true);
check('PDO::__construct', static fn($_, int $n) => \get_class(new \PDO(text('sqlite::memory:'))), in: 'PDO::__construct');
check('a statement class', static function ($db, int $n) { return \get_parent_class($db->prepare('select 1', [\PDO::ATTR_STATEMENT_CLASS => [on_demand(is: 'extends PDOStatement')]])); }, $db, in: 'PDO::prepare');
