<?php
/** Spawn $batch that return a value, then await each: ns each. */
require __DIR__ . '/../lib/suite.php';

bench('ns', warm: 1000,
    spindle: static function (int $n, int $batch): float {
        $task = static fn(int $x): int => $x;
        $start = now();
        for ($done = 0; $done < $n; $done += $batch) {
            $all = [];
            for ($i = 0; $i < $batch; $i++) {
                $all[] = Async\spawn($task, $i);
            }
            $sum = 0;
            foreach ($all as $coroutine) {
                $sum += Async\await($coroutine);
            }
            check($sum === $batch * ($batch - 1) / 2, "the sum of the results is $sum");
        }
        return (now() - $start) / $done;
    },
    plain: static function (int $n, int $batch): float {
        $task = static fn(int $x): int => $x;
        $start = now();
        for ($done = 0; $done < $n; $done += $batch) {
            $all = [];
            for ($i = 0; $i < $batch; $i++) {
                $all[] = $fiber = new Fiber($task);
                $fiber->start($i);
            }
            $sum = 0;
            foreach ($all as $fiber) {
                $sum += $fiber->getReturn();
            }
            check($sum === $batch * ($batch - 1) / 2, "the sum of the results is $sum");
            unset($all, $fiber);
        }
        return (now() - $start) / $done;
    },
);
