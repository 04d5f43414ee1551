<?php
/**
 * Channels beside what they consist of, a thousand at a time: ns each.
 * $which 0: a message through a channel without capacity, and a switch to another coroutine and back; 1: select() of eight
 * channels, of which one has a value, and recv(); 2: select() of eight channels that waits, and recv() that waits.
 */
require __DIR__ . '/../lib/suite.php';

const BATCH = 1000;

bench('ns', static function (int $n, int $which): array {
    /** Runs a batch in this coroutine, beside another one. */
    $timed = static function (Closure $other, Closure $own): Closure {
        return static function () use ($other, $own): float {
            $coroutine = Async\spawn($other);
            Async\suspend();
            $start = now();
            $own();
            $ns = now() - $start;
            Async\await($coroutine);
            return $ns / BATCH;
        };
    };
    $channel = new Async\Channel($which === 1 ? BATCH : 0);
    $sum = 0;
    $send = static function () use ($channel): void {
        for ($i = 0; $i < BATCH; $i++) {
            $channel->send($i);
        }
    };
    $receive = static function () use ($channel, &$sum): void {
        for ($i = 0; $i < BATCH; $i++) {
            $sum += $channel->recv();
        }
    };
    $eight = [];
    for ($i = 0; $i < 7; $i++) {
        $eight[] = new Async\Channel;
    }
    $eight[] = $channel;
    $select = static function () use ($eight, &$sum): void {
        for ($i = 0; $i < BATCH; $i++) {
            $sum += Async\select($eight)[1];
        }
    };
    $yield = static function (): void {
        for ($i = 0; $i < BATCH; $i++) {
            Async\suspend();
        }
    };
    $ways = match ($which) {
        0 => ['spindle' => $timed($send, $receive), 'plain' => $timed($yield, $yield)],
        default => ['spindle' => $timed($send, $select), 'plain' => $timed($send, $receive)],
    };
    array_map(static fn(Closure $way): float => $way(), $ways);
    $sum = 0;
    $figures = middles($n, $ways);
    $batches = $which === 0 ? $n : 2 * $n;
    check($sum === $batches * BATCH * (BATCH - 1) / 2, "the sum of the messages is $sum");
    return $figures;
});
