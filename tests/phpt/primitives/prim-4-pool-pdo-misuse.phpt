--TEST--
Pooled connections refuse misuse, and survive callbacks that use them, close them or drop them
--EXTENSIONS--
pdo_sqlite
--INI--
zend.exception_ignore_args=0
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{Pool, PooledPDO, PooledPDOConnection};
use function Async\{await, spawn};

T\work_in();
T\without_deprecations();
class Sub extends PooledPDO { function __construct() {} }
class Own extends PooledPDO { public $x = 1; function query(string $query, ?int $fetchMode = null, mixed ...$fetchModeArgs): PDOStatement|false { return parent::query($query, $fetchMode); } }
attempt('without constructor', fn() => (new ReflectionClass(PooledPDO::class))->newInstanceWithoutConstructor()->query('select 1'));
attempt('parent not constructed', fn() => (new Sub)->query('select 1'));
attempt('a class below', fn() => (int) (new Own('sqlite:a'))->query('select 2')->fetchColumn());
attempt('twice', fn() => (new PooledPDO('sqlite:a'))->__construct('sqlite:a'));
attempt('pool set', function() { $db = new PooledPDO('sqlite:a'); $db->pool = new Pool(fn() => 1); });
attempt('min over max', fn() => new PooledPDO('sqlite:a', min: 5, max: 2));
attempt('max 0', fn() => Pool::pdo('sqlite:a', max: 0));
attempt('persistent', fn() => new PooledPDO('sqlite:a', options: [PDO::ATTR_PERSISTENT => true]));
attempt('no driver', fn() => new PooledPDO('nope:'));
attempt('no file', fn() => new PooledPDO('sqlite:/no/such/folder/db'));
attempt('undefined', fn() => (new PooledPDO('sqlite:a'))->nope());
attempt('a connection by itself', fn() => (int) (new PooledPDOConnection('sqlite:a'))->query('select 3')->fetchColumn());
try {
    (function(#[SensitiveParameter] $secret) { new PooledPDO('sqlite:/no/such/folder/db', 'user', $secret); })('hidden');
} catch (PDOException $e) {
    T\check('the password is not in the trace', !str_contains(print_r($e->getTrace(), true), 'hidden'));
}

// Closures of methods, bound to other objects.
$db = new PooledPDO('sqlite:a');
$quote = $db->quote(...);
attempt('its own', fn() => $quote('x'));
attempt('called on a PDO', fn() => $quote->call(new PDO('sqlite:a'), 'y'));
attempt('called on another', fn() => @$quote->call(new Own('sqlite:a'), 'z'));
// PHP 8.4 has other words for it.
$refused = T\failure(spawn(fn() => (new ReflectionMethod('PDO', 'quote'))->invoke($db, 'x')));
T\check('the code of PDO', $refused instanceof Error && preg_match('/^(PDO object is not initialized, constructor was not called|Async\\\\PooledPDO object is uninitialized)$/', $refused->getMessage()));

// Callbacks of the connection.
attempt('closes the pool', function() {
    $db = new PooledPDO('sqlite:a', max: 1);
    $db->sqliteCreateFunction('f', fn() => [$db->pool->close(), 1][1]);
    return [(int) $db->query('select f()')->fetchColumn(), count($db->pool)];
});
attempt('drops the object', function() {
    $GLOBALS['dropped'] = new PooledPDO('sqlite:a', max: 1);
    $GLOBALS['dropped']->sqliteCreateFunction('f', function() { unset($GLOBALS['dropped']); return 1; });
    return (int) $GLOBALS['dropped']->query('select f()')->fetchColumn();
});
attempt('finds the connection', function() {
    $db = new PooledPDO('sqlite:a', max: 1);
    $found = null;
    $db->sqliteCreateFunction('f', function() use (&$found) {
        foreach (debug_backtrace() as $frame) if (($frame['object'] ?? null) instanceof PDO) $found = $frame['object'];
        return 1;
    });
    $db->query('select f()')->fetchColumn();
    $counts = [$db->pool->activeCount()];
    $found?->__destruct();
    $found?->__destruct();
    $found = null;
    return [...$counts, $db->pool->activeCount(), (int) $db->query('select 4')->fetchColumn()];
});
attempt('reset throws', function() {
    $calls = 0;
    $db = new PooledPDO('sqlite:a', max: 1, reset: function() use (&$calls) { if ($calls++ < 2) throw new LogicException; });
    $db->query('select 1');
    for ($i = 0; $i < 4; $i++) $results[] = get_debug_type(T\failure(spawn(fn() => $db->query('select 2')->fetchColumn())));
    return [$results, count($db->pool)];
});
attempt('reset refuses', function() {
    $db = new PooledPDO('sqlite:a', max: 1, reset: fn() => false);
    $db->query('select 1');
    return [(int) await(spawn(fn() => $db->query('select 2')->fetchColumn())), count($db->pool)];
});

// Ends.
attempt('the object goes first', function() {
    $db = new PooledPDO('sqlite:a', max: 1);
    $statement = $db->query('select 1');
    $db->beginTransaction();
    $db = null;
    return (int) $statement->fetchColumn();
});
attempt('cycles', function() {
    $db = new PooledPDO('sqlite:a', max: 1);
    $statement = $db->prepare('select 1');
    @$statement->self = $statement;
    $statement = null;
    gc_collect_cycles();
    $active = $db->pool->activeCount();
    $db->sqliteCreateFunction('f', fn() => $db);
    $weak = WeakReference::create($db);
    $db = null;
    gc_collect_cycles();
    return [$active, $weak->get()];
});
$db = new PooledPDO('sqlite:a', max: 1);
$db->beginTransaction();
class Last { function __construct(private PDO $db) {} function __destruct() { echo 'destructor ', $this->db->query('select 9')->fetchColumn(), "\n"; } }
$last = new Last($db);
register_shutdown_function(fn() => print('shutdown ' . $db->query('select 8')->fetchColumn() . "\n"));
?>
--EXPECT--
without constructor: Error: The Async\PooledPDO object was not constructed
parent not constructed: Error: The Sub object was not constructed
a class below: 2
twice: Async\AsyncException: The object is constructed already
pool set: Error: Cannot modify readonly property Async\PooledPDO::$pool
min over max: ValueError: Async\PooledPDO::__construct(): Argument #6 ($min) must not be greater than argument #5 ($max)
max 0: ValueError: Async\Pool::pdo(): Argument #5 ($max) must be at least 1
persistent: ValueError: Async\PooledPDO::__construct(): Argument #4 ($options) must not contain PDO::ATTR_PERSISTENT: the pool keeps the connections
no driver: PDOException: could not find driver
no file: PDOException: SQLSTATE[HY000] [14] unable to open database file
undefined: Error: Call to undefined method Async\PooledPDO::nope()
a connection by itself: 3
the password is not in the trace: yes
its own: "'x'"
called on a PDO: "'y'"
called on another: null
the code of PDO: yes
closes the pool: [1,0]
drops the object: 1
finds the connection: [1,0,4]
reset throws: [["LogicException","null","LogicException","null"],1]
reset refuses: [2,1]
the object goes first: 1
cycles: [0,null]
shutdown 8
destructor 9
