<?php
/**
 * A thing of a pool goes round between $live coroutines: ns for each acquire() and release(). With one there is nothing to wait
 * for; with more each release() hands it to one that waits, and each acquire() waits for that.
 */
require __DIR__ . '/../lib/suite.php';

bench('ns',
    spindle: static function (int $n, int $live): float {
        $pool = new Async\Pool(static fn() => new stdClass, max: 1);
        $turns = intdiv($n, $live);
        $count = 0;
        $task = static function () use ($pool, $turns, $live, &$count): void {
            for ($i = 0; $i < $turns; $i++) {
                $thing = $pool->acquire();
                if ($count++ < $live) {
                    Async\suspend(); // until the others wait
                }
                $pool->release($thing);
            }
        };
        $all = [];
        for ($i = 0; $i < $live; $i++) {
            $all[] = Async\spawn($task);
        }
        $start = now();
        foreach ($all as $coroutine) {
            Async\await($coroutine);
        }
        $ns = now() - $start;
        check($count === $turns * $live && count($pool) === 1, "$count of $n");
        return $ns / $count;
    },
    // A pool as one writes it for code that never waits.
    plain: static function (int $n): float {
        $free = new SplStack;
        $free->push(new stdClass);
        $acquire = static fn() => $free->pop();
        $release = static fn(stdClass $thing) => $free->push($thing);
        $start = now();
        for ($i = 0; $i < $n; $i++) {
            $thing = $acquire();
            $release($thing);
        }
        return (now() - $start) / $n;
    },
);
