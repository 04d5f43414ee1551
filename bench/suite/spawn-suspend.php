<?php
/** The life of a coroutine that suspends once while $live of its like do: ns each. */
require __DIR__ . '/../lib/suite.php';

bench('ns', warm: 1,
    spindle: static function (int $n, int $live): float {
        $suspended = 0;
        $task = static function () use (&$suspended): void {
            $suspended++;
            Async\suspend();
            $suspended--;
        };
        $start = now();
        for ($done = 0; $done < $n; $done += $live) {
            for ($i = 0; $i < $live; $i++) {
                Async\spawn($task);
            }
            Async\suspend();
            check($suspended === $live, "$suspended of $live live");
            Async\suspend();
            check($suspended === 0, "$suspended of $live left");
        }
        return (now() - $start) / $done;
    },
    plain: static function (int $n, int $live): float {
        $suspended = 0;
        $task = static function () use (&$suspended): void {
            $suspended++;
            Fiber::suspend();
            $suspended--;
        };
        $start = now();
        for ($done = 0; $done < $n; $done += $live) {
            $fibers = [];
            for ($i = 0; $i < $live; $i++) {
                $fibers[] = $fiber = new Fiber($task);
                $fiber->start();
            }
            check($suspended === $live, "$suspended of $live live");
            foreach ($fibers as $fiber) {
                $fiber->resume();
            }
            check($suspended === 0, "$suspended of $live left");
            unset($fibers, $fiber);
        }
        return (now() - $start) / $done;
    },
);
