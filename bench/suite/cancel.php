<?php
/** Cancels coroutines that are parked in a delay, by the thousand, up to the end of the last: ns each. */
require __DIR__ . '/../lib/suite.php';

const BATCH = 1000;

bench('ns', warm: BATCH,
    spindle: static function (int $n): float {
        $ended = 0;
        $task = static function () use (&$ended): void {
            try {
                Async\delay(3_600_000);
            } finally {
                $ended++;
            }
        };
        $took = 0;
        for ($done = 0; $done < $n; $done += BATCH) {
            $all = [];
            for ($i = 0; $i < BATCH; $i++) {
                $all[] = Async\spawn($task);
            }
            Async\suspend();
            $start = now();
            foreach ($all as $coroutine) {
                $coroutine->cancel();
            }
            Async\suspend();
            $took += now() - $start;
        }
        check($ended === $done, "$ended of $done have ended");
        return $took / $done;
    },
    plain: static function (int $n): float {
        $ended = 0;
        $task = static function () use (&$ended): void {
            try {
                Fiber::suspend();
            } finally {
                $ended++;
            }
        };
        $took = 0;
        for ($done = 0; $done < $n; $done += BATCH) {
            $all = [];
            for ($i = 0; $i < BATCH; $i++) {
                $all[] = $fiber = new Fiber($task);
                $fiber->start();
            }
            $start = now();
            foreach ($all as $fiber) {
                try {
                    $fiber->throw(new Exception('cancelled'));
                } catch (Exception) {
                }
            }
            $took += now() - $start;
            unset($all, $fiber);
        }
        check($ended === $done, "$ended of $done have ended");
        return $took / $done;
    },
);
