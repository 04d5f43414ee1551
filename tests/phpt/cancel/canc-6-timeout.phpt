--TEST--
CANC-6 timeout(): null after its time for everyone who awaits it; wrong values
--FILE--
<?php
use function Async\{await, delay, spawn, timeout};

require __DIR__ . '/kit.inc';

$start = hrtime(true);
$timeout = timeout(40);
var_dump($timeout instanceof Async\Awaitable);
$jobs = [];
for ($i = 0; $i < 5; $i++) $jobs[] = spawn(fn() => await($timeout));
var_dump(T\all($jobs) === [null, null, null, null, null], T\ms($start) >= 40);
var_dump(await($timeout), await(timeout(0)));
$late = timeout(5);
usleep(30_000); // over before anybody asks
var_dump(await($late));

foreach ([-1, PHP_INT_MIN, 'soon', []] as $value) {
    try {
        timeout($value);
        echo "accepted\n";
    } catch (TypeError|ValueError $e) {
        echo get_class($e), "\n";
    }
}
$work = spawn(function() { delay(30); return 'result'; });
echo await($work, timeout(PHP_INT_MAX)), "\n";
?>
--EXPECT--
bool(true)
bool(true)
bool(true)
NULL
NULL
NULL
ValueError
ValueError
TypeError
TypeError
result
