--TEST--
PRIM-1 Coroutines iterate over different channels and intervals at once
--FILE--
<?php
use Async\{Channel, Interval};
use function Async\{await, spawn};

$first = new Channel;
$second = new Channel;
$forward = spawn(function () use ($first, $second) {
    foreach ($first as $value) {
        $second->send($value + 1);
    }
    $second->close();
});
$never = new Channel;
$waits = spawn(function () use ($never) {
    foreach ($never as $value);
    echo "closed\n";
});
$ticks = spawn(function () {
    foreach (new Interval(3_600_000) as $tick);
});
spawn(function () use ($first) {
    foreach ([1, 2, 3] as $value) $first->send($value);
    $first->close();
});
foreach ($second as $key => $value) {
    echo "$key: $value\n";
}
foreach (new Interval(1) as $tick) {
    if ($tick > 1) break;
}
$ticks->cancel();
$never->close();
await($waits);
?>
--EXPECT--
0: 2
1: 3
2: 4
closed
