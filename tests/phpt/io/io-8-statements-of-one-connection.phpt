--TEST--
IO-8 the statements of one connection, and what was made of them, take turns; those of another one go on
--EXTENSIONS--
pdo_sqlite
--FILE--
<?php
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';
T\without_deprecations();

$open = function(string $name) use (&$goes) {
    $pdo = new PDO('sqlite::memory:');
    $pdo->sqliteCreateFunction('held', function() use ($name, &$goes) {
        while (empty($goes[$name])) suspend();
        return $name;
    });
    return $pdo;
};
$one = $open('one');
$two = $open('two');
$of_one = $one->prepare('select held()');
$also_of_one = $one->prepare('select 1');
$of_two = $two->prepare('select 2');
$fetch = fn(PDOStatement $s) => $s->execute() ? $s->fetchColumn() : false;

$holder = spawn($fetch, $of_one);
T\begun($holder);
$statement = spawn($fetch, $also_of_one);
$connection = spawn(fn() => $one->query('select 3')->fetchColumn());
T\begun($statement, $connection);
foreach (['a statement' => $statement, 'the connection' => $connection] as $name => $c) {
    T\check("$name waits", $c->getAwaitingInfo()['call'] === 'locked handle', $c->getAwaitingInfo());
}
echo await(spawn($fetch, $of_two)), "\n";
$goes['one'] = true;
echo await($holder), ' ', await($statement), ' ', await($connection), "\n";
?>
--EXPECT--
a statement waits: yes
the connection waits: yes
2
one 1 3
