--TEST--
CORO-3 sleepers wake in the order of their times, never early, whatever function they sleep in
--FILE--
<?php
use function Async\{delay, spawn};

require __DIR__ . '/kit.inc';

$sleeps = [
    fn(int $ms) => delay($ms),
    fn(int $ms) => usleep($ms * 1000),
    fn(int $ms) => time_nanosleep(0, $ms * 1_000_000),
    fn(int $ms) => time_sleep_until(microtime(true) + $ms / 1000),
];
$woken = $early = $jobs = [];
foreach ([320, 80, 480, 160, 400, 240, 560, 640] as $i => $ms) {
    $jobs[] = spawn(function() use ($ms, $i, $sleeps, &$woken, &$early) {
        $start = hrtime(true);
        $sleeps[$i % 4]($ms);
        if ($i % 4 !== 3 && hrtime(true) - $start < $ms * 1_000_000) {
            $early[] = $ms;
        }
        $woken[] = $ms;
    });
}
$start = hrtime(true);
T\all($jobs);
echo json_encode($woken), ' ', json_encode($early), "\n";
T\check('together', T\ms($start) < 2200, T\ms($start)); // one after another they take 2880
?>
--EXPECT--
[80,160,240,320,400,480,560,640] []
together: yes
