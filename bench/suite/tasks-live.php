<?php
/** What each of $n live tasks holds that wait for one coroutine, or on the plain side are queued: resident bytes. */
require __DIR__ . '/../lib/suite.php';
require __DIR__ . '/../lib/tasks.php';

function resident(): int
{
    check(preg_match('/^VmRSS:\s*(\d+) kB/m', file_get_contents('/proc/self/status'), $found), 'VmRSS in /proc/self/status');
    return 1024 * (int) $found[1];
}

ini_set('memory_limit', '-1');
bench('B',
    spindle: static function (int $n): float {
        $open = false;
        $gate = Async\spawn(static function () use (&$open): void {
            while (!$open) {
                Async\delay(20);
            }
        });
        $live = $ended = 0;
        $task = static function () use ($gate, &$live, &$ended): Generator {
            $live++;
            yield $gate;
            $ended++;
        };
        $scheduler = new Async\Task\Scheduler();
        $before = resident();
        for ($i = 0; $i < $n; $i++) {
            $scheduler->newTask($task());
        }
        $running = Async\spawn($scheduler->run(...));
        while ($live < $n) {
            Async\delay(1);
        }
        $after = resident();
        $open = true;
        Async\await($running);
        check($ended === $n, "$ended of $n ended");
        return ($after - $before) / $n;
    },
    plain: static function (int $n): float {
        $live = $ended = 0;
        $task = static function () use (&$live, &$ended): Generator {
            $live++;
            yield;
            $ended++;
        };
        $scheduler = new Plain\Scheduler();
        $before = $after = resident();
        $scheduler->newTask((static function () use (&$after, &$live, $n): Generator {
            yield;
            check($live === $n, "$live of $n live");
            $after = resident();
        })());
        for ($i = 0; $i < $n; $i++) {
            $scheduler->newTask($task());
        }
        $scheduler->run();
        check($ended === $n, "$ended of $n ended");
        return ($after - $before) / $n;
    },
);
