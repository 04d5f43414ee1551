<?php
/**
 * The operators beside the functions, a thousand at a time: ns each.
 * $which 0: `spawn f($x)` and `spawn('f', $x)`; 1: and `spawn(f(...), $x)`; 2: `await spawn f($x)`, both as functions.
 */
require __DIR__ . '/../lib/suite.php';

const BATCH = 1000;

function work(int $x): int
{
    global $sum;
    $sum += $x;
    return $x;
}

function spawnOperator(): void
{
    for ($i = 0; $i < BATCH; $i++) {
        spawn work($i);
    }
    Async\suspend();
}

function spawnName(): void
{
    for ($i = 0; $i < BATCH; $i++) {
        Async\spawn('work', $i);
    }
    Async\suspend();
}

function spawnClosure(): void
{
    for ($i = 0; $i < BATCH; $i++) {
        Async\spawn(work(...), $i);
    }
    Async\suspend();
}

function awaitOperator(): void
{
    for ($i = 0; $i < BATCH; $i++) {
        await spawn work($i);
    }
}

function awaitFunction(): void
{
    for ($i = 0; $i < BATCH; $i++) {
        Async\await(Async\spawn('work', $i));
    }
}

bench('ns', static function (int $n, int $which): array {
    $timed = static fn(Closure $batch): Closure => static function () use ($batch): float {
        global $sum;
        $sum = 0;
        $start = now();
        $batch();
        $ns = now() - $start;
        check($sum === BATCH * (BATCH - 1) / 2, "the sum is $sum");
        return $ns / BATCH;
    };
    return middles($n, [
        'spindle' => $timed($which === 2 ? awaitOperator(...) : spawnOperator(...)),
        'plain' => $timed([spawnName(...), spawnClosure(...), awaitFunction(...)][$which]),
    ]);
}, warm: 2);
