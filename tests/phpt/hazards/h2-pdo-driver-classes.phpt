--TEST--
H2 connections of a driver's own class, and those of PDO::connect(), are handles as those of PDO are
--SKIPIF--
<?php if (PHP_VERSION_ID < 80400) die('skip these classes came with PHP 8.4'); ?>
--EXTENSIONS--
pdo_sqlite
--FILE--
<?php
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';

T\without_deprecations();
T\work_in();
$ways = [
    'new PDO' => fn(...$a) => new PDO(...$a),
    'new Pdo\Sqlite' => fn(...$a) => new Pdo\Sqlite(...$a),
    'PDO::connect' => fn(...$a) => PDO::connect(...$a),
    'Pdo\Sqlite::connect' => fn(...$a) => Pdo\Sqlite::connect(...$a),
];
foreach ($ways as $way => $connect) {
    // one connection for two: the second call waits while the first is suspended in a callback
    $db = $connect('sqlite::memory:');
    $open = false;
    $function = function () use (&$open) { while (!$open) suspend(); return 1; };
    [$db, $db instanceof Pdo\Sqlite ? 'createFunction' : 'sqliteCreateFunction']('slow', $function);
    $first = spawn(fn() => $db->query('select slow()')->fetchColumn());
    T\begun($first);
    $others = [
        spawn(fn() => $db->query('select 2')->fetchColumn()),
        spawn(fn() => $db->lastInsertId()),
        spawn([$db, $db instanceof Pdo\Sqlite ? 'createCollation' : 'sqliteCreateCollation'](...), 'backwards', fn($a, $b) => $b <=> $a),
    ];
    T\begun(...$others);
    T\turns(3);
    $done = count(array_filter($others, fn($other) => $other->isCompleted()));
    $open = true;
    T\check("$way, shared", [$done, await($first), T\all($others)] === [0, 1, [2, '0', true]], $done);

    // its statements share the connection
    $open = false;
    $one = $db->prepare('select slow()');
    $two = $db->prepare('select 2');
    $first = spawn(fn() => [$one->execute(), $one->fetchColumn()]);
    T\begun($first);
    $second = spawn(fn() => [$two->execute(), $two->fetchColumn()]);
    T\begun($second);
    T\turns(3);
    $done = $second->isCompleted();
    $open = true;
    T\check("$way, statements", [$done, await($first), await($second)] === [false, [true, 1], [true, 2]]);

    // persistent ones: a connection for each coroutine
    $file = 'sqlite:' . tempnam(getcwd(), 'db');
    $use = function () use ($connect, $file) {
        $db = $connect($file, null, null, [PDO::ATTR_PERSISTENT => true]);
        $db->exec('create temp table if not exists mine (x)');
        $db->exec('insert into mine values (1)');
        suspend();
        suspend();
        return $db->query('select count(*) from mine')->fetchColumn();
    };
    $counts = T\all([spawn($use), spawn($use), spawn($use)]);
    T\check("$way, persistent", $counts === [1, 1, 1], $counts);
}
foreach (['new' => fn() => new Pdo\Sqlite('none:x'), 'connect' => fn() => PDO::connect('none:x'), 'pool' => fn() => Async\PooledPDO::connect('sqlite::memory:')] as $how => $make) {
    echo $how, ': ', get_class(T\failure(spawn($make))), "\n";
}
?>
--EXPECT--
new PDO, shared: yes
new PDO, statements: yes
new PDO, persistent: yes
new Pdo\Sqlite, shared: yes
new Pdo\Sqlite, statements: yes
new Pdo\Sqlite, persistent: yes
PDO::connect, shared: yes
PDO::connect, statements: yes
PDO::connect, persistent: yes
Pdo\Sqlite::connect, shared: yes
Pdo\Sqlite::connect, statements: yes
Pdo\Sqlite::connect, persistent: yes
new: PDOException
connect: PDOException
pool: PDOException
