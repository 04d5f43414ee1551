<?php
/**
 * How late sleepers wake around 200 ms of CPU in another coroutine: the worst of three, in ms; a negative
 * figure means that one woke early.
 *
 *  - 100 ms armed before the burn, due during it: counted from the end of the burn;
 *  - 250 ms armed before the burn, due after it;
 *  - 100 ms armed right after the burn, by the burner itself (a stale clock would wake it at once).
 */
require __DIR__ . '/../lib/suite.php';

function burn(int $ms): void
{
    $until = now() + $ms * 1_000_000;
    while (now() < $until) {
        md5('spindle');
    }
}

/** @param array<string, array{int, int}> $woke due and actual time of each sleeper */
function worst(array $woke, int $free): float
{
    check(count($woke) === 3, count($woke) . ' of 3 woke');
    $early = $late = 0;
    foreach ($woke as [$due, $at]) {
        $early = min($early, $at - $due);
        $late = max($late, $at - max($due, $free));
    }
    return ($early < 0 ? $early : $late) / 1e6;
}

bench('ms',
    spindle: static function (int $n): float {
        $woke = [];
        $free = 0;
        $sleep = static function (int $ms, string $name) use (&$woke): void {
            $due = now() + $ms * 1_000_000;
            Async\delay($ms);
            $woke[$name] = [$due, now()];
        };
        $all = [Async\spawn($sleep, 100, 'during'), Async\spawn($sleep, 250, 'after')];
        $all[] = Async\spawn(static function () use ($sleep, &$free): void {
            burn(200);
            $free = now();
            $sleep(100, 'fresh');
        });
        array_map('Async\await', $all);
        return worst($woke, $free);
    },
    plain: static function (int $n): float {
        $loop = new Loop();
        $woke = [];
        $free = 0;
        $sleep = static function (int $ms, string $name) use ($loop, &$woke): void {
            $due = now() + $ms * 1_000_000;
            $loop->delay($ms);
            $woke[$name] = [$due, now()];
        };
        $loop->spawn(static fn() => $sleep(100, 'during'));
        $loop->spawn(static fn() => $sleep(250, 'after'));
        $loop->spawn(static function () use ($sleep, &$free): void {
            burn(200);
            $free = now();
            $sleep(100, 'fresh');
        });
        $loop->run();
        return worst($woke, $free);
    },
);
