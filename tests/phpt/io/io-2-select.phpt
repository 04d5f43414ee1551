--TEST--
IO-2 stream_select() of many coroutines: who is ready is told, times hold, buffered data and files count as ready, errors are the same
--FILE--
<?php
use function Async\{delay, spawn};

require __DIR__ . '/kit.inc';

// one waits for many, many wait for one
$pairs = [];
for ($i = 0; $i < 20; $i++) $pairs[$i] = T\pair();
$select = function(array $streams, ?int $s, int $us = 0): array {
    $r = $streams;
    $w = $x = null;
    $n = stream_select($r, $w, $x, $s, $us);
    return [$n, array_keys($r)];
};
$ones = array_map(fn($p) => $p[0], $pairs);
$any = spawn($select, $ones, 10);
$never = spawn($select, array_slice($ones, 0, 5, true), 0, 80_000);
$forever = spawn($select, [7 => $ones[7], 8 => $ones[8]], null);
T\parked($any, $never, $forever);
fwrite($pairs[12][1], "x\nrest\n");
echo json_encode(Async\await($any)), "\n";
echo json_encode(Async\await($never)), "\n";
fclose($pairs[8][1]);
echo json_encode(Async\await($forever)), "\n";

// data in PHP's own buffer
echo json_encode(Async\await(spawn(function() use ($ones, $select) { $first = fgets($ones[12]); return [$first, $select([$ones[12]], 600), fgets($ones[12])]; }))), "\n";
// a plain file is always ready, and a zero timeout asks and returns
echo json_encode(Async\await(spawn(function() use ($select, $ones) { return [$select([fopen(__FILE__, 'r')], 600), $select([$ones[1]], 0)]; }))), "\n";
// writing: not while it is full
[$a, $b] = T\pair();
$full = spawn(function() use ($a) {
    stream_set_blocking($a, false);
    while (fwrite($a, str_repeat('x', 65_536)));
    $w = [$a]; $r = $x = null;
    $at_once = stream_select($r, $w, $x, 0);
    $w = [$a];
    return [$at_once, stream_select($r, $w, $x, 600)];
});
T\parked($full);
$drained = 0;
spawn(function() use ($b) { stream_set_blocking($b, false); while (strlen(fread($b, 65_536))) delay(0); });
echo json_encode(Async\await($full)), "\n";
foreach ([[[], null, null, 1], [null, null, null, 0]] as $arguments) {
    try {
        [$r, $w, $x, $s] = $arguments;
        Async\await(spawn(function() use ($r, $w, $x, $s) { stream_select($r, $w, $x, $s); }));
    } catch (ValueError $e) {
        echo $e->getMessage(), "\n";
    }
}
?>
--EXPECT--
[1,[12]]
[0,[]]
[1,[8]]
["x\n",[1,[0]],"rest\n"]
[[1,[0]],[0,[]]]
[0,1]
No stream arrays were passed
No stream arrays were passed
