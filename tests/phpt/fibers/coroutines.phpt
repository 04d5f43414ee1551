--TEST--
FIB-2 Several coroutines suspend into one scheduler
--FILE--
<?php
require __DIR__ . '/loop.inc';

$q = new Queue;
$all = [];
foreach (['a', 'b', 'c'] as $n) $all[] = Async\spawn(function () use ($q, $n) {
    for ($i = 0; $i < 3; $i++) { echo $n, $q->turn($i), " "; }
    return $n;
});
foreach ($all as $c) echo Async\await($c), "\n";
echo "runs $q->runs\n";
?>
--EXPECT--
abc0 a0 b0 c1 a1 b1 c2 a
2 b
2 c
runs 1
