--TEST--
H1 coroutines that write to several WAL databases at once come to an end
--EXTENSIONS--
pdo_sqlite
--FILE--
<?php
use function Async\{spawn, suspend};

require __DIR__ . '/kit.inc';
$dir = T\work_in();

foreach (['a', 'b'] as $name) {
    $pdo = new PDO("sqlite:$dir/$name");
    $pdo->exec('pragma journal_mode = wal; create table t (x)');
}
$jobs = [];
for ($i = 0; $i < 6; $i++) {
    $jobs[] = spawn(function() use ($dir, $i) {
        $one = new PDO("sqlite:$dir/" . ($i % 2 ? 'a' : 'b'), options: [PDO::ATTR_TIMEOUT => 20]);
        $two = new PDO("sqlite:$dir/" . ($i % 2 ? 'b' : 'a'), options: [PDO::ATTR_TIMEOUT => 20]);
        for ($n = 0; $n < 5; $n++) {
            $one->exec("begin immediate; insert into t values ($i); commit");
            suspend();
            $two->exec("insert into t values ($i)");
            $one->query('select count(*) from t')->fetchColumn();
        }
        $one->exec('pragma wal_checkpoint(full)');
        return 'done';
    });
}
echo implode(' ', array_unique(T\all($jobs))), "\n";
foreach (['a', 'b'] as $name) {
    $pdo = new PDO("sqlite:$dir/$name");
    echo $pdo->query('select count(*) from t')->fetchColumn(), ' ', $pdo->query('pragma integrity_check')->fetchColumn(), "\n";
}
?>
--EXPECT--
done
30 ok
30 ok
