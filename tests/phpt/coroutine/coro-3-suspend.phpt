--TEST--
CORO-3 suspend() alone returns at once, sleepers beside it do not hold it up, and everybody gets a turn in between
--INI--
async.seed=0
--FILE--
<?php
use function Async\{delay, spawn, suspend};

require __DIR__ . '/kit.inc';

$start = hrtime(true);
for ($i = 0; $i < 10_000; $i++) suspend();
$sleeper = spawn(function() { delay(600_000); });
for ($i = 0; $i < 10_000; $i++) suspend();
T\check('not held up', T\ms($start) < 60_000, T\ms($start));
var_dump($sleeper->isSuspended(), suspend());
$sleeper->cancel();

$turns = ['a' => 0, 'b' => 0];
foreach (['a', 'b'] as $name) {
    spawn(function() use (&$turns, $name) {
        while (true) {
            $turns[$name]++;
            if ($turns[$name] >= 100) break;
            suspend();
        }
    });
}
for ($i = 0; $i < 50; $i++) {
    suspend();
}
echo json_encode($turns), "\n";

// timers come due although the queue is never empty
$fired = false;
spawn(function() use (&$fired) { delay(20); $fired = true; });
$start = hrtime(true);
while (!$fired && T\ms($start) < 60_000) suspend();
var_dump($fired);
?>
--EXPECT--
not held up: yes
bool(true)
NULL
{"a":50,"b":50}
bool(true)
