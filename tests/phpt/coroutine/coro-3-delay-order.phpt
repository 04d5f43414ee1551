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
$woken = $early = $jobs = $due = [];
foreach ([320, 80, 480, 160, 400, 240, 560, 640] as $i => $ms) {
    $jobs[$ms] = spawn(function() use ($ms, $i, $sleeps, &$woken, &$early) {
        $start = hrtime(true);
        $sleeps[$i % 4]($ms);
        if ($i % 4 !== 3 && hrtime(true) - $start < $ms * 1_000_000) {
            $early[] = $ms;
        }
        $woken[] = $ms;
    });
}
T\begun(...array_values($jobs));
$together = $woken === [];
foreach ($jobs as $ms => $job) {
    do { // when it is due, in nanoseconds: a machine with other work has let some begin later
        $now = hrtime(true);
        $info = $job->getAwaitingInfo();
    } while (hrtime(true) - $now > 2_000_000);
    $due[$ms] = $info ? $now - $info['since'] * 1e9 + $ms * 1e6 : 0;
}
T\all($jobs);
$order = true;
for ($i = 1; $i < 8; $i++) {
    $order = $order && $due[$woken[$i - 1]] < $due[$woken[$i]] + 5e6;
}
T\check('in the order of their times', $order, [$woken, $due]);
echo json_encode($early), "\n";
T\check('together', $together, $woken);
?>
--EXPECT--
in the order of their times: yes
[]
together: yes
