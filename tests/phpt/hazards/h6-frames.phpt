--TEST--
H6 coroutines that are at different depths of calls, and go up and down in turns, keep their frames
--FILE--
<?php
use function Async\{spawn, suspend};

require __DIR__ . '/kit.inc';

/** Goes down so many calls, and up again, and gives its turn away at each but those that the pace passes over. */
function sum(int $depth, int $pace, string $own): int
{
    [$a, $b, $c] = [$depth, "$own$depth", [$depth]];
    if ($depth % $pace === 0) suspend();
    $below = $depth > 0 ? sum($depth - 1, $pace, $own) : 0;
    if ($depth % $pace === 0) suspend();
    if ([$a, $b, $c] !== [$depth, "$own$depth", [$depth]]) throw new Error('a frame is not what it was');
    return $below + $a;
}
/** The same, down and up and down again. */
function tree(int $depth, string $own): int
{
    [$a, $b] = ["$own$depth", [$depth]];
    $sum = 1;
    if ($depth > 0) {
        $sum += tree($depth - 1, $own);
        suspend();
        $sum += tree($depth - 1, $own);
    } else {
        suspend();
    }
    if ([$a, $b] !== ["$own$depth", [$depth]]) throw new Error('a frame is not what it was');
    return $sum;
}
$jobs = [];
foreach ([50, 800, 3, 400, 1200, 10, 90] as $i => $depth) {
    foreach ([1, 3, 7] as $pace) $jobs["$depth/$pace"] = spawn(sum(...), $depth, $pace, "of $i/$pace at ");
}
$wrong = [];
foreach (T\all($jobs) as $name => $sum) if ($sum !== (int) $name * ((int) $name + 1) / 2) $wrong[$name] = $sum;
echo json_encode($wrong), "\n";
$jobs = [];
foreach ([3, 8, 5, 7, 8, 1, 6] as $i => $depth) $jobs[] = spawn(tree(...), $depth, "of $i at ");
echo implode(' ', T\all($jobs)), "\n";

// and those of a callback of C code that has waited
final class Lasts extends php_user_filter
{
    public function filter($in, $out, &$consumed, bool $closing): int
    {
        [$a, $b, $c] = [[strlen('four')], str_repeat('own', 3), ['k' => 1.5]];
        for ($i = 0; $i < 10; $i++) suspend();
        if ([$a, $b, $c] !== [[4], 'ownownown', ['k' => 1.5]]) throw new Error('a frame is not what it was');
        while ($bucket = stream_bucket_make_writeable($in)) {
            $consumed += $bucket->datalen;
            stream_bucket_append($out, $bucket);
        }
        return PSFS_PASS_ON;
    }
}
stream_filter_register('lasts', Lasts::class);
$read = [];
for ($i = 0; $i < 3; $i++) {
    [$stream, $other] = T\pair();
    stream_filter_append($stream, 'lasts', STREAM_FILTER_READ);
    T\parked($read[] = spawn(fn() => fgets($stream)));
    fwrite($other, "$i ");
    fclose($other);
}
$calls = [];
for ($i = 0; $i < 3; $i++) $calls[] = spawn(function() use ($read) {
    do suspend() ?? sum(30, 7, 'beside at '); while (array_filter($read, fn($c) => !$c->isCompleted()));
});
echo implode(T\all($read)), count(T\all($calls)), "\n";
?>
--EXPECT--
[]
15 511 63 255 511 3 127
0 1 2 3
