--TEST--
A PooledPDO is a PDO: the same results, exceptions, warnings and types as one connection gives
--EXTENSIONS--
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\PooledPDO;
use function Async\{await, spawn};

class Row { public $a; public $b; public function __construct(public string $from = 'none') {} }
class MyStatement extends PDOStatement { protected function __construct(public readonly string $given) {} }

$log = [];
set_error_handler(function(int $level, string $text) use (&$log) { $log[] = preg_replace('~Async\\\\PooledPDO|PDO~', 'PDO', $text); return true; });

/** Everything that a program does with one connection. */
function program(PDO $db, array &$log): void
{
    $note = function(string $what, callable $call) use (&$log, $db) {
        try {
            $result = $call();
            $log[] = "$what: " . (is_object($result) ? get_class($result) : var_export($result, true));
        } catch (Throwable $e) {
            $log[] = "$what: " . get_class($e) . ' ' . json_encode([$e->getCode(), $e->getMessage(), $e->errorInfo ?? null]);
        }
        $log[] = json_encode([$db->errorCode(), $db->errorInfo(), $db->inTransaction()]);
    };
    $note('class', fn() => $db instanceof PDO);
    $note('drivers', fn() => PDO::getAvailableDrivers() === $db->getAvailableDrivers());
    $note('create', fn() => $db->exec('create table t(a integer primary key, b text)'));
    $note('insert', fn() => $db->exec("insert into t(b) values ('one'), ('two'), ('three')"));
    $note('id', fn() => $db->lastInsertId());
    $note('id of a name', fn() => $db->lastInsertId('t'));
    $note('quote', fn() => $db->quote("a'b") . $db->quote('1', PDO::PARAM_INT));
    $note('assoc', fn() => $db->query('select * from t')->fetchAll(PDO::FETCH_ASSOC));
    $note('mode in query()', fn() => $db->query('select * from t', PDO::FETCH_CLASS, Row::class, ['given'])->fetchAll());
    $note('column', fn() => $db->query('select b, a from t', PDO::FETCH_COLUMN, 1)->fetchAll());
    $note('into', function() use ($db) { $row = new Row; $db->query('select * from t', PDO::FETCH_INTO, $row)->fetch(); return $row->b; });
    $note('lazy', function() use ($db) { $row = $db->query('select * from t')->fetch(PDO::FETCH_LAZY); return get_class($row) . $row->b . $row->queryString; });
    $note('foreach', function() use ($db) { foreach ($db->query('select a from t') as $row) $all[] = $row['a']; return $all; });
    $note('two statements', function() use ($db) {
        $one = $db->query('select a from t order by a');
        $two = $db->query('select b from t order by a');
        while ($row = $one->fetch(PDO::FETCH_NUM)) $all[] = [$row[0], $two->fetchColumn()];
        return $all;
    });
    $note('prepared', function() use ($db) {
        $statement = $db->prepare('select b from t where a = :a');
        $statement->bindParam(':a', $a, PDO::PARAM_INT);
        foreach ([3, 1, 9] as $a) { $statement->execute(); $all[] = $statement->fetchColumn(); }
        return [$all, $statement->queryString, $statement->columnCount(), $statement->errorCode()];
    });
    $note('named arguments', fn() => $db->query(query: 'select 5', fetchMode: PDO::FETCH_NUM)->fetch());
    $note('callable', fn() => array_map([$db, 'quote'], ['x', 'y']));
    $note('first-class callable', fn() => ($db->quote(...))('z'));
    $note('call_user_func', fn() => call_user_func_array([$db, 'exec'], ['delete from t where a = 3']));
    $note('begin', fn() => $db->beginTransaction());
    $note('begin twice', fn() => $db->beginTransaction());
    $note('in it', fn() => $db->exec("insert into t(b) values ('gone')"));
    $note('roll back', fn() => $db->rollBack());
    $note('roll back twice', fn() => $db->rollBack());
    $note('commit nothing', fn() => $db->commit());
    $note('begin, commit', fn() => [$db->beginTransaction(), $db->exec("insert into t(b) values ('kept')"), $db->commit()]);
    $note('by statement', fn() => [$db->exec('BEGIN'), $db->exec("insert into t(b) values ('gone')"), $db->exec('ROLLBACK')]);
    $note('count', fn() => $db->query('select count(*) from t')->fetchColumn());
    $note('get', fn() => [$db->getAttribute(PDO::ATTR_DRIVER_NAME), $db->getAttribute(PDO::ATTR_ERRMODE), $db->getAttribute(PDO::ATTR_CASE)]);
    $note('get unknown', fn() => $db->getAttribute(12345));
    $note('set unknown', fn() => $db->setAttribute(12345, 1));
    $note('syntax', fn() => $db->query('selec'));
    $note('no table', fn() => $db->exec('insert into nope values (1)'));
    $note('unique', fn() => $db->exec('insert into t(a) values (1)'));
    $note('too many', fn() => $db->prepare('select ?')->execute([1, 2]));
    $note('empty', fn() => $db->query(''));
    $note('no argument', fn() => $db->query());
    $note('type', fn() => $db->exec([]));
    $note('mode', fn() => $db->query('select 1', 99));
    $note('set', fn() => $db->setAttribute(PDO::ATTR_DEFAULT_FETCH_MODE, PDO::FETCH_OBJ));
    $note('it holds', fn() => $db->query('select 1 as x')->fetch()->x);
    $note('statement class', fn() => $db->setAttribute(PDO::ATTR_STATEMENT_CLASS, [MyStatement::class, ['given']]));
    $note('it holds', fn() => $db->query('select 1 as x')->given);
    $note('function', fn() => $db->sqliteCreateFunction('twice', fn($x) => 2 * $x, 1));
    $note('it is there', fn() => $db->query('select twice(4)')->fetchColumn());
    $note('aggregate', fn() => $db->sqliteCreateAggregate('joined', fn($all, $row, $x) => $all . $x, fn($all) => $all));
    $note('it is there', fn() => $db->query('select joined(b) from t')->fetchColumn());
    $note('collation', fn() => $db->sqliteCreateCollation('odd', fn($a, $b) => strcmp(strrev($a), strrev($b))));
    $note('a failing function', fn() => [$db->sqliteCreateFunction('fails', fn() => throw new LogicException('own')), $db->query('select fails()')]);
    $note('calls the connection', fn() => [$db->sqliteCreateFunction('again', fn() => $db->query('select 7')->fetchColumn()), $db->query('select again()')->fetchColumn()]);
    $note('warnings', fn() => $db->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_WARNING));
    $note('a warning', fn() => $db->query('selec'));
    $note('silent', fn() => $db->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_SILENT));
    $note('nothing', fn() => $db->query('selec'));
    $note('clone', fn() => clone $db);
    $note('serialize', fn() => str_replace('Async\PooledPDO', 'PDO', get_class($db)) === 'PDO' ? serialize($db) && false : 0);
    $note('undefined', fn() => is_callable([$db, 'quote']) && method_exists($db, 'query'));
}

T\work_in();
$plain = $pooled = [];
$log = &$plain;
program(new PDO('sqlite:one'), $plain);
$log = &$pooled;
$db = new PooledPDO('sqlite:two');
program($db, $pooled);
$normal = fn(array $log) => str_replace(['Async\\\\PooledPDO', 'Async\\PooledPDO'], 'PDO', $log);
$pooled = $normal($pooled);
T\check(count($plain) . ' answers', count($plain) === count($pooled) && count($plain) > 100);
foreach ($plain as $at => $line) if ($line !== ($pooled[$at] ?? null)) echo "  {$plain[$at - 1]}\n- $line\n+ ", $pooled[$at] ?? "nothing", "\n";
// 'selec' is a statement of an unknown kind: it keeps the connection.
T\check('one connection was enough', count($db->pool) === 1 && $db->pool->activeCount() === 1, [count($db->pool), $db->pool->activeCount()]);

$inside = [];
$log = &$inside;
await(spawn(function() use (&$inside) { program(new PooledPDO('sqlite:three'), $inside); }));
T\check('in a coroutine', $normal($inside) === $plain);

$methods = fn(string $class) => array_map(fn($m) => (string) $m, array_filter((new ReflectionClass($class))->getMethods(), fn($m) => $m->class === PDO::class));
T\check('methods', array_map('strval', array_values($methods(PooledPDO::class))) !== []);
?>
--EXPECTF--
%d answers: yes
one connection was enough: yes
in a coroutine: yes
methods: yes
