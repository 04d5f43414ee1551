<?php
/**
 * PHP's own Fiber: ns for one that is created, started and ends, and for one suspension with its resumption. The Spindle side has
 * the extension loaded; with $inside, it is in a coroutine, which the plain side does not have.
 */
require __DIR__ . '/../lib/suite.php';

/** @return array{life: float, switch: float} */
function fibers(int $n): array
{
    $lives = max(100, intdiv($n, 50));
    $done = 0;
    $code = static function () use (&$done): void {
        $done++;
    };
    $start = now();
    for ($i = 0; $i < $lives; $i++) {
        $fiber = new Fiber($code);
        $fiber->start();
    }
    $life = (now() - $start) / $lives;
    check($done === $lives, "$done of $lives ended");

    $fiber = new Fiber(static function () use ($n): void {
        for ($i = 0; $i < $n; $i++) {
            Fiber::suspend();
        }
    });
    $fiber->start();
    $start = now();
    for ($i = 1; $i < $n; $i++) {
        $fiber->resume();
    }
    $switch = (now() - $start) / ($n - 1);
    $fiber->resume();
    check($fiber->isTerminated(), 'the fiber ends');
    return ['life' => $life, 'switch' => $switch];
}

bench('ns',
    spindle: static fn(int $n, int $inside): array => $inside ? Async\await(Async\spawn(fibers(...), $n)) : fibers($n),
    plain: static fn(int $n): array => fibers($n),
    warm: 1000,
);
