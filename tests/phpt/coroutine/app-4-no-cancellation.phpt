--TEST--
APP-4 a cancellation is thrown at the next wait, not where a slice ends; what is shared is not torn
--INI--
async.time_slice_ms=2
--FILE--
<?php
use function Async\{await, delay, protect, spawn, suspend};

$is_cancelled = false;
$has_begun = false;
$computes = spawn(function() use (&$is_cancelled, &$has_begun) {
    $has_begun = true;
    while (!$is_cancelled);
    echo "the loop has ended\n";
    try {
        delay(1);
    } finally {
        echo "cancelled in delay()\n";
    }
});
while (!$has_begun) {
    suspend();
}
spawn(function() use ($computes, &$is_cancelled) {
    $computes->cancel();
    $is_cancelled = true;
});
try {
    await($computes);
} catch (Async\CancellationException $cancelled) {
    echo get_class($cancelled), "\n";
}

// What is shared by a reference is read and written whole by each.
$sum = 0;
$add = function() use (&$sum) {
    for ($i = 0; $i < 300_000; $i++) {
        $sum += 1;
    }
};
await($one = spawn($add));
array_map(await(...), [spawn($add), spawn($add), spawn(fn() => protect($add))]);
echo $sum, "\n";

// The position in an array is each loop's own.
$list = range(1, 100_000);
$total = function() use ($list) {
    $total = 0;
    foreach ($list as $value) {
        $total += $value;
    }
    return $total;
};
echo implode(' ', array_unique(array_map(await(...), array_map(fn() => spawn($total), range(1, 5))))), "\n";
?>
--EXPECT--
the loop has ended
cancelled in delay()
Async\CancellationException
1200000
5000050000
