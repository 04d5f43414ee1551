--TEST--
PooledMysqli is there if mysqli is, in whatever order they are loaded, and refuses what it cannot do
--SKIPIF--
<?php
foreach (['mysqlnd', 'mysqli'] as $name) file_exists(ini_get('extension_dir') . "/$name.so") || die("skip there is no shared extension $name");
?>
--FILE--
<?php
require __DIR__ . '/kit.inc';

$code = <<<'PHP'
    $refused = function(callable $call): string {
        try {
            return get_debug_type($call());
        } catch (Throwable $e) {
            return $e::class . ': ' . $e->getMessage();
        }
    };
    echo json_encode([class_exists('mysqli'), class_exists('Async\PooledMysqli'), class_exists('Async\PooledMysqliConnection')]), "\n";
    if (!class_exists('mysqli')) {
        echo $refused(fn() => Async\Pool::mysqli('localhost')), "\n";
        exit;
    }
    mysqli_report(MYSQLI_REPORT_ERROR | MYSQLI_REPORT_STRICT);
    echo json_encode(is_subclass_of('Async\PooledMysqli', 'mysqli')), "\n";
    class Own extends Async\PooledMysqli { public $own = 1; function __construct() {} }
    $made = new Own;
    $calls = [
        'not constructed' => fn() => $made->query('select 1'), 'a property' => fn() => $made->insert_id, 'its own' => fn() => $made->own,
        'of the extension' => fn() => $made->client_info, 'a function' => fn() => mysqli_query($made, 'select 1'),
        'isset' => fn() => var_export(isset($made->insert_id), true), 'a statement of it' => fn() => new mysqli_stmt($made),
        'a result of it' => fn() => new mysqli_result($made), 'persistent' => fn() => new Async\PooledMysqli('p:localhost'),
        'min over max' => fn() => new Async\PooledMysqli(max: 1, min: 2), 'nobody there' => fn() => new Async\PooledMysqli('127.0.0.1', port: 1),
        'the same in a pool' => fn() => Async\Pool::mysqli('127.0.0.1', port: 1, min: 1),
        'a plain one' => fn() => mysqli_query(mysqli_init(), 'select 1'),
        'a poll' => function() use ($made) { $a = $b = [$made]; $c = []; return mysqli_poll($a, $b, $c, 0); },
    ];
    foreach ($calls as $what => $call) echo "$what: ", $refused($call), "\n";
    print_r($made);
    mysqli_report(MYSQLI_REPORT_OFF);
    echo 'without exceptions: ', @$refused(fn() => new Async\PooledMysqli('127.0.0.1', port: 1)), "\n";
    PHP;
$spindle = (function() { foreach (file('/proc/self/maps') as $line) if (preg_match('~/\S*spindle\S*\.so~', $line, $found)) return $found[0]; })();
$orders = [
    'without it' => [$spindle], 'after it' => ['mysqlnd', 'mysqli', $spindle], 'before it' => [$spindle, 'mysqlnd', 'mysqli'],
];
$outputs = [];
foreach ($orders as $order => $extensions) {
    $command = [PHP_BINARY, '-n'];
    foreach ($extensions as $extension) array_push($command, '-d', "extension=$extension");
    exec(implode(' ', array_map(escapeshellarg(...), [...$command, '-r', $code])) . ' 2>&1', $lines, $status);
    $outputs[$order] = "$status\n" . implode("\n", $lines) . "\n";
    $lines = [];
}
echo $outputs['without it'], $outputs['after it'];
T\check('the order is of no matter', $outputs['before it'] === $outputs['after it'], $outputs['before it']);
?>
--EXPECT--
0
[false,false,false]
Async\AsyncException: This needs the extension mysqli, which is not loaded
0
[true,true,true]
true
not constructed: Error: The Own object was not constructed
a property: Error: Own object is already closed
its own: int
of the extension: string
a function: Error: The Own object was not constructed
isset: string
a statement of it: Async\AsyncException: The connections of a pooled object make their own statements: call prepare() or stmt_init()
a result of it: Async\AsyncException: The connections of a pooled object make their own statements: call prepare() or stmt_init()
persistent: ValueError: Async\PooledMysqli::__construct(): Argument #1 ($hostname) must not begin with "p:": the pool keeps the connections
min over max: ValueError: Async\PooledMysqli::__construct(): Argument #8 ($min) must not be greater than argument #7 ($max)
nobody there: mysqli_sql_exception: Connection refused
the same in a pool: mysqli_sql_exception: Connection refused
a plain one: Error: mysqli object is not fully initialized
a poll: Async\AsyncException: A pooled object makes no asynchronous queries: make them in coroutines
Own Object
(
    [own] => 1
)
without exceptions: Async\AsyncException: Async\PooledMysqli: the extension has opened no connection, and has thrown no exception
the order is of no matter: yes
