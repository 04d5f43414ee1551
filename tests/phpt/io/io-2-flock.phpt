--TEST--
IO-2 flock(): exclusive and shared locks between coroutines and with another process, in turn and without blocking the rest
--FILE--
<?php
use function Async\{delay, spawn, suspend};

require __DIR__ . '/kit.inc';
T\work_in(['lock' => '0']);

$side = new T\Side('$f = fopen("lock", "r+"); while (fgets(STDIN)) { flock($f, LOCK_EX); echo "locked\n"; fgets(STDIN); flock($f, LOCK_UN); echo "unlocked\n"; }');
$side->say('lock');
$side->hear();
$inside = $most = 0;
$jobs = [];
for ($i = 0; $i < 10; $i++) {
    $jobs[] = spawn(function() use (&$inside, &$most) {
        $f = fopen('lock', 'r+');
        for ($k = 0; $k < 5; $k++) {
            if (!flock($f, LOCK_EX)) return 'not locked';
            $most = max($most, ++$inside);
            $n = (int) stream_get_contents($f, null, 0);
            delay(1);
            rewind($f);
            fwrite($f, (string) ($n + 1));
            fflush($f);
            $inside--;
            flock($f, LOCK_UN);
            suspend();
        }
        return 'done';
    });
}
$ticks = new T\Ticks;
T\turns(50);
T\until(fn() => $ticks->count > 2);
T\check('all wait for the other process', $most === 0, $most);
$f = fopen('lock', 'r');
var_dump(flock($f, LOCK_EX | LOCK_NB, $would), $would);
$side->say('unlock');
echo implode(' ', array_unique(T\all($jobs))), ' ', file_get_contents('lock'), " $most\n";
$ticks->stop();

// readers share, the writer waits for all of them
$log = [];
$locks = function(int $i, int $kind) use (&$log) {
    $f = fopen('lock', 'r+');
    flock($f, $kind);
    $log[] = "in $i";
    T\turns(50);
    $log[] = "out $i";
    fclose($f);
};
$jobs = [spawn($locks, 0, LOCK_SH), spawn($locks, 1, LOCK_SH)];
T\until(function() use (&$log) { return count($log) === 2; });
$jobs[] = spawn($locks, 2, LOCK_EX);
T\all($jobs);
$at = array_flip($log);
T\check('readers together', max($at['in 0'], $at['in 1']) < min($at['out 0'], $at['out 1']), $log);
T\check('the writer alone', $at['in 2'] > max($at['out 0'], $at['out 1']), $log);
?>
--EXPECT--
all wait for the other process: yes
bool(false)
int(1)
done 50 1
readers together: yes
the writer alone: yes
