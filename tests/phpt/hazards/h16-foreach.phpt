--TEST--
H16 what a foreach fetches from is busy while a callback below it is suspended, though no function has been called
--EXTENSIONS--
pdo_sqlite
--FILE--
<?php
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';
T\without_deprecations();

$pdo = new PDO('sqlite::memory:');
$goes_on = false;
$pdo->sqliteCreateFunction('passes', function(int $n) use (&$goes_on) {
    while ($n === 2 && !$goes_on) suspend(); // the first row is fetched by the query itself
    return $n;
});
$loops = spawn(function() use ($pdo) {
    $rows = [];
    foreach ($pdo->query('select passes(n) from (select 1 n union select 2 union select 3)', PDO::FETCH_COLUMN, 0) as $row) $rows[] = $row;
    return implode($rows);
});
T\begun($loops);
$other = spawn(fn() => $pdo->query('select 4')->fetchColumn());
T\begun($other);
T\check('another coroutine waits', $other->getAwaitingInfo()['call'] === 'locked handle', $other->getAwaitingInfo());
$goes_on = true;
echo await($loops), ' ', await($other), "\n";
?>
--EXPECT--
another coroutine waits: yes
123 4
