<?php
/** A timer armed and dropped before it fires, 1,000 at a time: ns each. */
require __DIR__ . '/../lib/suite.php';

const BATCH = 1000;

bench('ns', warm: BATCH,
    spindle: static function (int $n): float {
        Async\spawn(static function (): void {});
        Async\suspend();
        $start = now();
        for ($done = 0; $done < $n; $done += BATCH) {
            $batch = [];
            for ($i = 0; $i < BATCH; $i++) {
                $batch[] = Async\timeout(10_000 + $i);
            }
            unset($batch);
        }
        return (now() - $start) / $done;
    },
    // An object in a heap, taken out again at the root: plain PHP has no heap that removes from the middle.
    plain: static function (int $n): float {
        $timers = new SplPriorityQueue();
        $start = now();
        for ($done = 0; $done < $n; $done += BATCH) {
            for ($i = 0; $i < BATCH; $i++) {
                $timers->insert(new stdClass(), -(now() + (10_000 + $i) * 1_000_000));
            }
            for ($i = 0; $i < BATCH; $i++) {
                $timers->extract();
            }
        }
        return (now() - $start) / $done;
    },
);
