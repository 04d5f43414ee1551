<?php
/**
 * What $n parked coroutines hold: bytes each, resident (`rss`: PHP's heap is in it) and, on top of it, in the
 * kernel's page tables (`pte`). They all await one coroutine.
 */
require __DIR__ . '/../lib/suite.php';

/** @return array{rss: int, pte: int} bytes */
function held(): array
{
    $status = file_get_contents('/proc/self/status');
    check(preg_match('/^VmRSS:\s*(\d+) kB/m', $status, $rss) && preg_match('/^VmPTE:\s*(\d+) kB/m', $status, $pte),
        'VmRSS and VmPTE in /proc/self/status');
    return ['rss' => 1024 * (int) $rss[1], 'pte' => 1024 * (int) $pte[1]];
}

/** @return array{rss: float, pte: float} */
function each(array $before, array $after, int $n): array
{
    return ['rss' => ($after['rss'] - $before['rss']) / $n, 'pte' => ($after['pte'] - $before['pte']) / $n];
}

bench('B',
    spindle: static function (int $n): array {
        $open = false;
        $gate = Async\spawn(static function () use (&$open): void {
            while (!$open) {
                Async\delay(20);
            }
        });
        $parked = 0;
        $task = static function () use ($gate, &$parked): void {
            $parked++;
            Async\await($gate);
            $parked--;
        };
        Async\spawn($task);
        Async\suspend();
        check($parked === 1, "$parked parked first");

        $before = held();
        for ($i = 0; $i < $n; $i++) {
            Async\spawn($task);
        }
        Async\suspend();
        $after = held();
        check($parked === 1 + $n, "$parked of $n parked");

        $open = true;
        Async\await($gate);
        for ($turn = 0; $parked > 0 && $turn < 10; $turn++) {
            Async\suspend();
        }
        check($parked === 0, "$parked of $n left");
        return each($before, $after, $n);
    },
    plain: static function (int $n): array {
        $parked = 0;
        $task = static function () use (&$parked): void {
            $parked++;
            Fiber::suspend();
            $parked--;
        };
        $fibers = [$fiber = new Fiber($task)];
        $fiber->start();

        $before = held();
        for ($i = 0; $i < $n; $i++) {
            $fibers[] = $fiber = new Fiber($task);
            $fiber->start();
        }
        $after = held();
        check($parked === 1 + $n, "$parked of $n parked");

        foreach ($fibers as $fiber) {
            $fiber->resume();
        }
        check($parked === 0, "$parked of $n left");
        return each($before, $after, $n);
    },
);
