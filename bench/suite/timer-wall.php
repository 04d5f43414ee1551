<?php
/** $n coroutines, each `delay(1000)`, from the first spawn to the end of the last: ms of the clock. */
require __DIR__ . '/../lib/suite.php';

bench('ms',
    spindle: static function (int $n): float {
        $woke = 0;
        $task = static function () use (&$woke): void {
            Async\delay(1000);
            $woke++;
        };
        $start = now();
        $all = [];
        for ($i = 0; $i < $n; $i++) {
            $all[] = Async\spawn($task);
        }
        foreach ($all as $coroutine) {
            Async\await($coroutine);
        }
        $ns = now() - $start;
        check($woke === $n, "$woke of $n woke");
        return $ns / 1e6;
    },
    plain: static function (int $n): float {
        $loop = new Loop();
        $woke = 0;
        $task = static function () use ($loop, &$woke): void {
            $loop->delay(1000);
            $woke++;
        };
        $start = now();
        for ($i = 0; $i < $n; $i++) {
            $loop->spawn($task);
        }
        $loop->run();
        $ns = now() - $start;
        check($woke === $n, "$woke of $n woke");
        return $ns / 1e6;
    },
    swoole: inSwoole(static function (int $n): float {
        $woke = 0;
        $group = new Swoole\Coroutine\WaitGroup();
        $task = static function () use ($group, &$woke): void {
            Swoole\Coroutine::sleep(1);
            $woke++;
            $group->done();
        };
        $start = now();
        $group->add($n);
        for ($i = 0; $i < $n; $i++) {
            Swoole\Coroutine::create($task);
        }
        $group->wait();
        $ns = now() - $start;
        check($woke === $n, "$woke of $n woke");
        return $ns / 1e6;
    }),
    swow: static function (int $n): float {
        $woke = 0;
        $left = new Swow\Sync\WaitReference();
        $task = static function () use ($left, &$woke): void {
            sleep(1);
            $woke++;
        };
        $start = now();
        for ($i = 0; $i < $n; $i++) {
            Swow\Coroutine::run($task);
        }
        unset($task);
        Swow\Sync\WaitReference::wait($left);
        $ns = now() - $start;
        check($woke === $n, "$woke of $n woke");
        return $ns / 1e6;
    },
);
