--TEST--
CORO-1 100,000 coroutines one after another, of each kind of ending, leave no memory behind
--FILE--
<?php
use function Async\{await, getCoroutines, spawn, suspend};

require __DIR__ . '/kit.inc';

$kinds = [
    'at once' => function() { await(spawn(fn(int $x) => $x, 1)); },
    'after giving way' => function() { await(spawn(function() { suspend(); return str_repeat('x', 100); })); },
    'failed' => function() { T\failure(spawn(function() { throw new RuntimeException('x'); })); },
    'cancelled' => function() { $c = spawn(function() { Async\delay(600_000); }); suspend(); $c->cancel(); T\failure($c); },
    'never started' => function() { $c = spawn(function() {}); $c->cancel(); T\failure($c); },
    'not awaited' => function() { spawn(function() { suspend(); }); suspend(); suspend(); },
];
foreach ($kinds as $name => $kind) {
    for ($i = 0; $i < 200; $i++) $kind();
    gc_collect_cycles();
    $before = memory_get_usage();
    for ($i = 0; $i < 16_667; $i++) $kind();
    gc_collect_cycles();
    $grown = memory_get_usage() - $before;
    T\check($name, $grown < 50_000, "grown by $grown");
}
T\alone();
var_dump(count(getCoroutines()));
?>
--EXPECT--
at once: yes
after giving way: yes
failed: yes
cancelled: yes
never started: yes
not awaited: yes
int(1)
