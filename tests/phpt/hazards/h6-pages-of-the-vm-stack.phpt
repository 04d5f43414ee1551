--TEST--
H6 main's VM stack grows by main's pages and a coroutine's by its own, whoever has run in between
--FILE--
<?php
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';

function grows(int $depth, int $before, int $most = 0): int
{
    $now = memory_get_usage();
    $most = max($most, $now - $before);
    return $depth ? grows($depth - 1, $now, $most) : $most;
}
$plain = grows(10_000, memory_get_usage());
T\check('before there are coroutines', $plain >= 256 * 1024, $plain);
$job = spawn(function() {
    suspend();
    return grows(10_000, memory_get_usage());
});
T\begun($job);
$after = grows(10_000, memory_get_usage());
T\check('main', $after === $plain, $after);
$own = await($job);
T\check('a coroutine', $own < 32 * 1024, $own);
?>
--EXPECT--
before there are coroutines: yes
main: yes
a coroutine: yes
