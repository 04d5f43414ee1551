--TEST--
CORO-8 ten thousand coroutines suspended at once, deep in their calls, keep every local value
--FILE--
<?php
use function Async\{spawn, suspend};

require __DIR__ . '/kit.inc';

function deeper(int $n, int $depth, string $text): int
{
    $array = [$n => $text, 'depth' => $depth];
    if ($depth === 0) {
        do suspend(); while (!$GLOBALS['all']);
    } else {
        $n += deeper($n, $depth - 1, "$text$depth") - $n;
    }
    return $array['depth'] === $depth && isset($array[$n]) && $array[$n] === $text ? $n : -1;
}

$all = false;
$jobs = [];
for ($i = 0; $i < 10_000; $i++) {
    $jobs[$i] = spawn('deeper', $i, $i % 8, 't');
}
T\begun(...$jobs);
var_dump(count(Async\getCoroutines()));
$all = true;
var_dump(T\all($jobs) === range(0, 9999));
?>
--EXPECT--
int(10001)
bool(true)
