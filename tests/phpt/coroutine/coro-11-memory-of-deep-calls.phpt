--TEST--
CORO-11 what deep calls of coroutines have taken goes back to the system when they have ended
--INI--
async.seed=0
memory_limit=-1
--FILE--
<?php
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';

$resident = fn() => preg_match('/^RssAnon:\s+(\d+) kB/m', file_get_contents('/proc/self/status'), $m) ? $m[1] >> 10 : 0;
function nested(int $n): int
{
    return $n ? array_map('nested', [$n - 1])[0] : (suspend() ?? 0);
}
function round_of(int $count, int $depth): void
{
    $jobs = [];
    for ($i = 0; $i < $count; $i++) $jobs[] = spawn('nested', $depth);
    T\all($jobs);
}
round_of(300, 0);
$before = $resident();
$jobs = [];
for ($i = 0; $i < 300; $i++) $jobs[] = spawn('nested', 2000);
suspend();
suspend();
$during = $resident();
T\all($jobs);
unset($jobs);
gc_mem_caches();
round_of(300, 0);
$after = $resident();
T\check('they took much', $during - $before > 300, "$before $during");
T\check('little is left', $after - $before < ($during - $before) / 3, "$before $during $after");
?>
--EXPECT--
they took much: yes
little is left: yes
