<?php
/**
 * What groups cost beside what they are made of, in turns, in ns:
 * 0: group() of 10 coroutines, beside 10 spawns that are awaited; 1: map() of 10,000 items, beside iterate(), for each item.
 */
require __DIR__ . '/../lib/suite.php';

use function Async\{await, group, iterate, map, spawn};

bench('ns', spindle: static function (int $rounds, int $kind): array {
    $task = static fn(int $x): int => $x;
    $ten = static function () use ($task): int {
        $all = [];
        for ($i = 0; $i < 10; $i++) {
            $all[] = spawn($task, $i);
        }
        $sum = 0;
        foreach ($all as $coroutine) {
            $sum += await($coroutine);
        }
        return $sum;
    };
    $items = range(1, 10_000);
    $each = static function (int $x) use (&$sum): void {
        $sum += $x;
    };
    $timed = static fn(Closure $what, int $times): Closure => static function () use ($what, $times): float {
        $start = now();
        $what();
        return (now() - $start) / $times;
    };
    $hundred = static function (Closure $one): void {
        for ($i = 0; $i < 100; $i++) {
            check($one() === 45, 'the sum of the results');
        }
    };
    return middles($rounds, [
        ['spindle' => $timed(fn() => $hundred(fn() => group($ten)), 100), 'plain' => $timed(fn() => $hundred($ten), 100)],
        [
            'spindle' => $timed(fn() => check(count(map($items, $task, 100)) === 10_000, 'the results'), 10_000),
            'plain' => $timed(function () use ($items, $each, &$sum) {
                $sum = 0;
                iterate($items, $each, 100);
                check($sum === 50_005_000, 'the sum');
            }, 10_000),
        ],
    ][$kind]);
});
