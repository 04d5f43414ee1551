<?php
/** $live coroutines that yield to each other through the scheduler: ns for each yield. */
require __DIR__ . '/../lib/suite.php';

bench('ns',
    spindle: static function (int $n, int $live): float {
        $turns = intdiv($n, $live);
        $ended = 0;
        $task = static function () use ($turns, &$ended): void {
            for ($i = 0; $i < $turns; $i++) {
                Async\suspend();
            }
            $ended++;
        };
        $all = [];
        for ($i = 0; $i < $live; $i++) {
            $all[] = Async\spawn($task);
        }
        Async\suspend(); // all have started and given way once
        $start = now();
        foreach ($all as $coroutine) {
            Async\await($coroutine);
        }
        $ns = now() - $start;
        check($ended === $live, "$ended of $live ended");
        return $ns / (($turns - 1) * $live);
    },
    plain: static function (int $n, int $live): float {
        $turns = intdiv($n, $live);
        $ended = 0;
        $task = static function () use ($turns, &$ended): void {
            for ($i = 0; $i < $turns; $i++) {
                Fiber::suspend();
            }
            $ended++;
        };
        // The cheapest scheduler of this shape: the fiber itself does nothing but suspend.
        $queue = new SplQueue();
        for ($i = 0; $i < $live; $i++) {
            $fiber = new Fiber($task);
            $fiber->start();
            $queue->enqueue($fiber);
        }
        $start = now();
        while (!$queue->isEmpty()) {
            $fiber = $queue->dequeue();
            $fiber->resume();
            if (!$fiber->isTerminated()) {
                $queue->enqueue($fiber);
            }
        }
        $ns = now() - $start;
        check($ended === $live, "$ended of $live ended");
        return $ns / (($turns - 1) * $live);
    },
);
