<?php
/** The life of a coroutine that never suspends: ns each. */
require __DIR__ . '/../lib/suite.php';

const BATCH = 1000;

bench('ns', warm: BATCH,
    spindle: static function (int $n): float {
        $ran = 0;
        for ($i = 0; $i < BATCH; $i++) {
            Async\spawn(static function () use (&$ran): void { $ran++; });
        }
        Async\suspend();
        check($ran === BATCH, "one turn of the queue ran $ran of " . BATCH);

        $task = static function (): void {};
        $start = now();
        for ($done = 0; $done < $n; $done += BATCH) {
            for ($i = 0; $i < BATCH; $i++) {
                Async\spawn($task);
            }
            Async\suspend();
        }
        return (now() - $start) / $done;
    },
    plain: static function (int $n): float {
        $task = static function (): void {};
        $start = now();
        for ($i = 0; $i < $n; $i++) {
            (new Fiber($task))->start();
        }
        return (now() - $start) / $n;
    },
    swoole: inSwoole(static function (int $n): float {
        $task = static function (): void {};
        $start = now();
        for ($i = 0; $i < $n; $i++) {
            Swoole\Coroutine::create($task);
        }
        return (now() - $start) / $n;
    }),
    swow: static function (int $n): float {
        $task = static function (): void {};
        $start = now();
        for ($i = 0; $i < $n; $i++) {
            Swow\Coroutine::run($task);
        }
        return (now() - $start) / $n;
    },
);
