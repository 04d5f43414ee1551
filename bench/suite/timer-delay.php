<?php
/** One `delay()` among 10,000 sleepers, deadlines spread over 50 ms: ns of CPU, from arming to running again. */
require __DIR__ . '/../lib/suite.php';

const LIVE = 10_000;

bench('ns',
    spindle: static function (int $n): float {
        $times = intdiv($n, LIVE);
        $woke = 0;
        $task = static function (int $ms) use ($times, &$woke): void {
            Async\suspend();
            for ($i = 0; $i < $times; $i++) {
                Async\delay($ms);
                $woke++;
            }
        };
        $all = [];
        for ($i = 0; $i < LIVE; $i++) {
            $all[] = Async\spawn($task, 1 + $i % 50);
        }
        Async\suspend(); // all have started
        $start = cpu();
        foreach ($all as $coroutine) {
            Async\await($coroutine);
        }
        $ns = cpu() - $start;
        check($woke === $times * LIVE, "$woke of $times times " . LIVE . ' woke');
        return $ns / $woke;
    },
    plain: static function (int $n): float {
        $times = intdiv($n, LIVE);
        $loop = new Loop();
        $woke = 0;
        $started = 0;
        $start = 0;
        for ($i = 0; $i < LIVE; $i++) {
            $ms = 1 + $i % 50;
            $loop->spawn(static function () use ($loop, $ms, $times, &$woke, &$started, &$start): void {
                if (++$started === LIVE) {
                    $start = cpu();
                }
                $loop->suspend();
                for ($i = 0; $i < $times; $i++) {
                    $loop->delay($ms);
                    $woke++;
                }
            });
        }
        $loop->run();
        $ns = cpu() - $start;
        check($woke === $times * LIVE, "$woke of $times times " . LIVE . ' woke');
        return $ns / $woke;
    },
);
