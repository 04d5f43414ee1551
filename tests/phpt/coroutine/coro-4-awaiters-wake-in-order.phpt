--TEST--
CORO-4 a thousand awaiters of one coroutine all get its result, first come first served
--INI--
async.seed=0
--FILE--
<?php
use function Async\{await, spawn};

require __DIR__ . '/kit.inc';

$result = new stdClass;
$work = spawn(function() use ($result) { T\turns(50); return $result; });
$order = $jobs = [];
for ($i = 0; $i < 1000; $i++) {
    $jobs[] = spawn(function() use ($i, $work, &$order, $result) {
        $same = await($work) === $result;
        $order[] = $same ? $i : 'another result';
    });
}
T\all($jobs);
var_dump($order === range(0, 999));
?>
--EXPECT--
bool(true)
