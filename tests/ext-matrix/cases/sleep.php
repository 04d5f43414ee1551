<?php
namespace Matrix;

/** What $sleep returned, and that it took its time. */
function slept(callable $sleep): array
{
    $start = \hrtime(true);
    $result = $sleep();
    return [$result, (\hrtime(true) - $start) / 1e6 >= ms()];
}

matrix('usleep', fn() => slept(fn() => \usleep(ms() * 1000)), n: 100);
matrix('time_nanosleep', fn() => slept(fn() => \time_nanosleep(0, ms() * 1_000_000)), n: 100);
matrix('time_sleep_until', function (): array {
    $until = \microtime(true) + seconds();
    return [\time_sleep_until($until), \microtime(true) >= $until];
}, n: 100);
matrix('sleep', fn() => slept(fn() => \sleep(1)), n: 2, ms: 1000);
matrix('nothing to sleep', fn() => [\sleep(0), \usleep(0), \time_nanosleep(0, 0), @\time_sleep_until(\time() - 10)], evidence: 'none');
matrix('wrong arguments', function (): array {
    $messages = [];
    foreach ([fn() => \sleep(-1), fn() => \usleep(-1), fn() => \time_nanosleep(-1, 0), fn() => \time_nanosleep(0, -1)] as $sleep) {
        try {
            $messages[] = $sleep();
        } catch (\ValueError $e) {
            $messages[] = $e->getMessage();
        }
    }
    return $messages;
}, evidence: 'none');
matrix('in a generator, a sort and a destructor', function (int $i): array {
    $generator = (function () use ($i) {
        foreach ([3, 1, 2] as $n) {
            \usleep(ms(100) * 1000);
            yield $n + $i;
        }
    })();
    $values = \iterator_to_array($generator, false);
    \usort($values, function (int $a, int $b): int {
        \usleep(ms(50) * 1000);
        return $a <=> $b;
    });
    $object = new class($values) {
        public function __construct(private array &$values) {}
        public function __destruct()
        {
            \usleep(ms(50) * 1000);
            $this->values[] = 'destructed';
        }
    };
    unset($object);
    return $values;
}, ms: 450);
