--TEST--
CORO-4 a token that was not needed keeps nothing of the waits it was used in, nor does work that was given up
--FILE--
<?php
use function Async\{await, delay, spawn, suspend, timeout};

require __DIR__ . '/kit.inc';

$never = spawn(fn() => delay(600_000));
$uses = [
    'one token, many works' => fn() => await(spawn(fn() => suspend()), $never),
    'one work, many tokens' => fn() => T\failure(spawn(fn() => await($never, spawn(fn() => suspend())))),
    'a timeout for each' => fn() => await(spawn(fn() => suspend()), timeout(60_000)),
];
foreach ($uses as $name => $use) {
    for ($i = 0; $i < 100; $i++) $use();
    gc_collect_cycles();
    $before = memory_get_usage();
    for ($i = 0; $i < 5000; $i++) $use();
    gc_collect_cycles();
    $grown = memory_get_usage() - $before;
    T\check($name, $grown < 50_000, $grown);
}
$never->cancel();
?>
--EXPECT--
one token, many works: yes
one work, many tokens: yes
a timeout for each: yes
