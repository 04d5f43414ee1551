--TEST--
H4 a lock whose waiter was cancelled is owned by nobody, however late it would have come
--FILE--
<?php
use function Async\{delay, spawn, suspend};

require __DIR__ . '/kit.inc';
T\work_in(['lock' => '']);

$side = new T\Side('$f = fopen("lock", "r"); while (fgets(STDIN)) { flock($f, LOCK_EX); echo "locked\n"; fgets(STDIN); flock($f, LOCK_UN); echo "unlocked\n"; }');
$kept = [];
for ($round = 0; $round < 15; $round++) {
    $side->say('lock');
    $side->hear();
    $waiting = [];
    for ($i = 0; $i < 4; $i++) {
        $kept[$i] = $f = fopen('lock', 'r'); // the handle outlives the coroutine
        $waiting[] = spawn(fn() => flock($f, $i % 2 ? LOCK_EX : LOCK_SH));
    }
    T\parked(...$waiting);
    // the cancellation and the release cross each other
    if ($round % 3 === 0) $side->say('unlock');
    foreach ($waiting as $w) $w->cancel();
    if ($round % 3 === 1) $side->say('unlock');
    $got = 0;
    foreach ($waiting as $i => $w) if (T\failure($w) === null) { $got++; flock($kept[$i], LOCK_UN); }
    if ($round % 3 === 2) $side->say('unlock');
    $side->hear();
    $f = fopen('lock', 'r');
    if (!T\until(fn() => flock($f, LOCK_EX | LOCK_NB))) {
        echo "round $round: somebody holds the lock\n";
        break;
    }
    flock($f, LOCK_UN);
}
echo $round, "\n";
?>
--EXPECT--
15
