--TEST--
H1 SQLite keeps its mutex while it reads and writes: coroutines on one connection do not enter it together
--EXTENSIONS--
sqlite3
--FILE--
<?php
use function Async\{spawn, suspend};

require __DIR__ . '/kit.inc';
$dir = T\work_in();

$db = new SQLite3("$dir/db");
$db->enableExceptions(true);
$db->exec('pragma journal_mode = delete; pragma synchronous = extra; pragma cache_size = 2');
$db->exec('create table t (id integer primary key, who int, text blob)');
$ticks = new T\Ticks(1);
$jobs = [];
for ($i = 0; $i < 8; $i++) {
    $jobs[] = spawn(function() use ($db, $i) {
        for ($n = 0; $n < 8; $n++) {
            $s = $db->prepare('insert into t (who, text) values (:who, :text)');
            $s->bindValue(':who', $i);
            $s->bindValue(':text', str_repeat("$i", 9000), SQLITE3_BLOB);
            $s->execute();
            $bad = $db->querySingle("select count(*) from t where text <> cast(replace(hex(zeroblob(4500)), '0', who) as blob)");
            if ($bad) return "$bad bad rows";
        }
        return $db->querySingle("select count(*) from t where who = $i");
    });
}
echo implode(' ', T\all($jobs)), "\n";
echo $db->querySingle('pragma integrity_check'), "\n";
$ticks->stop();
?>
--EXPECT--
8 8 8 8 8 8 8 8
ok
