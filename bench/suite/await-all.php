<?php
/** awaitAll() over $live coroutines that have not begun: ns for each, from the call to the results, the coroutines included. */
require __DIR__ . '/../lib/suite.php';

bench('ns', warm: 1,
    spindle: static function (int $rounds, int $live): float {
        $task = static fn(int $x): int => $x;
        $ns = 0;
        for ($round = 0; $round < $rounds; $round++) {
            $all = [];
            for ($i = 0; $i < $live; $i++) {
                $all[] = Async\spawn($task, $i);
            }
            $start = now();
            $results = Async\awaitAll($all);
            $ns += now() - $start;
            check(array_sum($results) === intdiv($live * ($live - 1), 2), 'the sum of the results');
        }
        return $ns / $rounds / $live;
    },
);
