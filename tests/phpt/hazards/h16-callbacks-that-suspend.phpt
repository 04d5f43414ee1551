--TEST--
H16 what a call uses is busy while its coroutine is suspended in a callback, by whatever, however deep
--EXTENSIONS--
pdo_sqlite
sqlite3
--INI--
async.seed=0
--FILE--
<?php
use Async\{AsyncException};
use function Async\{await, currentCoroutine, delay, spawn, suspend};

require __DIR__ . '/kit.inc';

function deep(int $n, callable $f) { return $n ? deep($n - 1, $f) : $f(); }

$waits = [
    'delay' => fn() => delay(1),
    'suspend' => fn() => suspend(),
    'await' => fn() => await(spawn(fn() => delay(1))),
    'usleep' => fn() => usleep(500),
    'a fiber' => function() { $f = new Fiber(fn() => delay(1)); $f->start(); },
];
$db = new PDO('sqlite::memory:');
$db->exec('create table t(a)');
for ($i = 0; $i < 6; $i++) $db->exec("insert into t values($i)");
foreach ($waits as $name => $wait) foreach ([0, 3, 40, 300] as $depth) {
    $rows = $db->query('select a from t');
    $in = 0;
    $most = 0;
    $all = function() use ($rows, $wait, $depth, &$in, &$most) { return $rows->fetchAll(PDO::FETCH_FUNC, function($x) use ($wait, $depth, &$in, &$most) { $most = max($most, ++$in); deep($depth, $wait); $in--; return $x; }); };
    [$a, $b, $c] = T\all([spawn($all), spawn($all), spawn(fn() => $db->query('select count(*) from t')->fetchColumn())]);
    T\check("$name, $depth deep", [$a, $b, $c] === [range(0, 5), [], 6] && $most === 1, [$a, $b, $c, $most]);
}

// SQLite's functions, on one connection and on two
foreach ([1, 2] as $count) {
    $dbs = [];
    for ($i = 0; $i < $count; $i++) { $dbs[$i] = new SQLite3(':memory:'); $dbs[$i]->createFunction('slow', function($x) { delay(1); return $x * 2; }); }
    $sum = function($n) use ($dbs, $count) { $r = $dbs[$n % $count]->query("select slow(1) union all select slow(2) union all select slow($n)"); $s = []; while ($row = $r->fetchArray(SQLITE3_NUM)) $s[] = $row[0]; return $s; };
    T\check("SQLite3, $count", T\all([spawn($sum, 3), spawn($sum, 4), spawn($sum, 5)]) === [[2, 4, 6], [2, 4, 8], [2, 4, 10]]);
}

// a user stream wrapper: two coroutines on one of its streams, and on two
final class Slow
{
    public $context;
    private int $at = 0;
    private static int $inside = 0;
    public static int $most = 0;
    private function wait() { self::$most = max(self::$most, ++self::$inside); delay(1); self::$inside--; }
    public function stream_open($path, $mode, $options, &$opened) { $this->wait(); return true; }
    public function stream_read($count) { $this->wait(); return $this->at < 12 ? 'line' . $this->at++ . "\n" : ''; }
    public function stream_eof() { return $this->at >= 12; }
    public function stream_close() { $this->wait(); }
    public function stream_stat() { return []; }
}
stream_wrapper_register('slow', Slow::class);
$one = fopen('slow://a', 'r');
Slow::$most = 0;
$lines = function($h) { $l = []; while (($x = fgets($h)) !== false) $l[] = trim($x); return $l; };
[$a, $b] = T\all([spawn($lines, $one), spawn($lines, $one)]);
$both = [...$a, ...$b];
sort($both, SORT_NATURAL);
T\check('each line once', $both === array_map(fn($n) => "line$n", range(0, 11)), $a, $b);
T\check('one at a time', Slow::$most === 1 && $a && $b, Slow::$most);
// the same name, opened by several at once: PHP takes that for an endless recursion, if it is in one flow
$both = T\all([spawn(fn() => file('slow://same')), spawn(fn() => file('slow://same')), spawn(fn() => count(file('slow://same')))]);
T\check('opened at once', $both[0] === $both[1] && count($both[0]) === $both[2] && $both[2] === 12, $both);
T\check('at once', Slow::$most > 1, Slow::$most);
?>
--EXPECT--
delay, 0 deep: yes
delay, 3 deep: yes
delay, 40 deep: yes
delay, 300 deep: yes
suspend, 0 deep: yes
suspend, 3 deep: yes
suspend, 40 deep: yes
suspend, 300 deep: yes
await, 0 deep: yes
await, 3 deep: yes
await, 40 deep: yes
await, 300 deep: yes
usleep, 0 deep: yes
usleep, 3 deep: yes
usleep, 40 deep: yes
usleep, 300 deep: yes
a fiber, 0 deep: yes
a fiber, 3 deep: yes
a fiber, 40 deep: yes
a fiber, 300 deep: yes
SQLite3, 1: yes
SQLite3, 2: yes
each line once: yes
one at a time: yes
opened at once: yes
at once: yes
