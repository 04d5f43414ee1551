<?php
/** Spawn a thousand that return a value, then await each: ns each. */
require __DIR__ . '/../lib/suite.php';

const BATCH = 1000;

bench('ns', warm: BATCH,
    spindle: static function (int $n): float {
        $task = static fn(int $x): int => $x;
        $start = now();
        for ($done = 0; $done < $n; $done += BATCH) {
            $batch = [];
            for ($i = 0; $i < BATCH; $i++) {
                $batch[] = Async\spawn($task, $i);
            }
            $sum = 0;
            foreach ($batch as $coroutine) {
                $sum += Async\await($coroutine);
            }
            check($sum === BATCH * (BATCH - 1) / 2, "the sum of the results is $sum");
        }
        return (now() - $start) / $done;
    },
    plain: static function (int $n): float {
        $task = static fn(int $x): int => $x;
        $start = now();
        for ($done = 0; $done < $n; $done += BATCH) {
            $batch = [];
            for ($i = 0; $i < BATCH; $i++) {
                $batch[] = $fiber = new Fiber($task);
                $fiber->start($i);
            }
            $sum = 0;
            foreach ($batch as $fiber) {
                $sum += $fiber->getReturn();
            }
            check($sum === BATCH * (BATCH - 1) / 2, "the sum of the results is $sum");
            unset($batch, $fiber);
        }
        return (now() - $start) / $done;
    },
);
