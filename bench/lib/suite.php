<?php
/**
 * What every benchmark file uses: the entry point, the clock, a check that stops a wrong run, and the
 * event loop of the plain side (fibers, an SplQueue, a heap of timers).
 */

/**
 * Runs one side and prints its figure as `VALUE UNIT`; a side that returns an array prints a line
 * `VALUE UNIT NAME` for each element.
 *
 * Where both sides are measured in one process, in turns, there is only the first: it prints `VALUE UNIT spindle` and
 * `VALUE UNIT plain`, see middles().
 *
 * Command line: FILE spindle|plain|swoole|swow N [EXTRA…]. The side is called as (N, EXTRA…), once with `$warm` in
 * place of N where that is not 0: the first spawn of a process does work that no later one does.
 */
function bench(string $unit, Closure $spindle, ?Closure $plain = null, int $warm = 0, ?Closure $swoole = null, ?Closure $swow = null): void
{
    global $argv;
    $side = ['spindle' => $spindle, 'plain' => $plain, 'swoole' => $swoole, 'swow' => $swow][$argv[1] ?? ''] ?? null;
    if ($side === null || (int) ($argv[2] ?? 0) < 1) {
        fwrite(STDERR, "usage: php {$argv[0]} spindle|plain|swoole|swow N [EXTRA...]\n");
        exit(2);
    }
    $extra = array_map('intval', array_slice($argv, 3));
    if ($warm > 0) {
        $side($warm, ...$extra);
    }
    foreach ((array) $side((int) $argv[2], ...$extra) as $name => $value) {
        echo rtrim(sprintf('%.6F %s %s', $value, $unit, is_string($name) ? $name : '')), "\n";
    }
}

/**
 * Runs two or more ways of doing a thing in turns, each time in an order that is drawn, and gives for each the mean of
 * the middle half of what it returned.
 *
 * @param array<array-key, Closure(): float> $ways
 * @return array<array-key, float>
 */
function middles(int $rounds, array $ways): array
{
    $samples = [];
    for ($round = 0; $round < $rounds; $round++) {
        $order = array_keys($ways);
        shuffle($order);
        foreach ($order as $way) {
            $samples[$way][] = $ways[$way]();
        }
    }
    return array_map(middle(...), $samples);
}

/**
 * Runs two ways of doing each of many things in turns, the side that is first drawn each time, with all other things in
 * between: what the processor has learnt of one is gone when it comes again. For each side the sum of the `middle()`s.
 *
 * @param list<array{spindle: Closure(): float, plain: Closure(): float}> $things
 * @return array{spindle: float, plain: float}
 */
function sums(int $rounds, array $things): array
{
    $samples = [];
    for ($round = 0; $round < $rounds; $round++) {
        $spindleFirst = array_map(static fn(): int => mt_rand(0, 1), $things);
        foreach ([1, 0] as $turn) {
            foreach ($things as $i => $ways) {
                $side = $spindleFirst[$i] === $turn ? 'spindle' : 'plain';
                $samples[$side][$i][] = $ways[$side]();
            }
        }
    }
    return array_map(static fn(array $all): float => array_sum(array_map(middle(...), $all)), $samples);
}

/** The mean of the middle half: as robust as the median, and with less noise. */
function middle(array $samples): float
{
    sort($samples);
    $quarter = intdiv(count($samples), 4);
    $half = array_slice($samples, $quarter, count($samples) - 2 * $quarter);
    return array_sum($half) / count($half);
}

/** The side of Swoole, which has coroutines inside `run` only, and replaces what blocks when it is asked to. */
function inSwoole(Closure $side): Closure
{
    return static function (int ...$arguments) use ($side): float|array {
        Swoole\Runtime::enableCoroutine(SWOOLE_HOOK_ALL & ~SWOOLE_HOOK_CURL);
        Swoole\Coroutine::set(['max_coroutine' => 1_000_000]);
        Swoole\Coroutine\run(static function () use ($side, $arguments, &$result): void { $result = $side(...$arguments); });
        return $result;
    };
}

/** Nanoseconds of the monotonic clock. */
function now(): int
{
    return hrtime(true);
}

/** Nanoseconds of CPU, user and system, all threads of this process. */
function cpu(): int
{
    $u = getrusage();
    return 1000 * ($u['ru_utime.tv_usec'] + $u['ru_stime.tv_usec'])
        + 1_000_000_000 * ($u['ru_utime.tv_sec'] + $u['ru_stime.tv_sec']);
}

/** A figure of a run that did not do the work is worse than none. */
function check(bool $ok, string $what): void
{
    if (!$ok) {
        fwrite(STDERR, "wrong: $what\n");
        exit(1);
    }
}

/** The scheduler one writes over plain fibers. */
final class Loop
{
    private SplQueue $ready;
    private SplPriorityQueue $timers;

    public function __construct()
    {
        $this->ready = new SplQueue();
        $this->timers = new SplPriorityQueue();
        $this->timers->setExtractFlags(SplPriorityQueue::EXTR_BOTH);
    }

    public function spawn(Closure $task): Fiber
    {
        $this->ready->enqueue($fiber = new Fiber($task));
        return $fiber;
    }

    public function suspend(): void
    {
        $this->ready->enqueue(Fiber::getCurrent());
        Fiber::suspend();
    }

    public function delay(int $ms): void
    {
        $this->timers->insert(Fiber::getCurrent(), -(now() + $ms * 1_000_000));
        Fiber::suspend();
    }

    public function run(): void
    {
        for (;;) {
            while (!$this->ready->isEmpty()) {
                $fiber = $this->ready->dequeue();
                $fiber->isStarted() ? $fiber->resume() : $fiber->start();
            }
            if ($this->timers->isEmpty()) {
                return;
            }
            $wait = -$this->timers->top()['priority'] - now();
            if ($wait > 0) {
                usleep(intdiv($wait + 999, 1000));
            }
            $now = now();
            while (!$this->timers->isEmpty() && -$this->timers->top()['priority'] <= $now) {
                $this->ready->enqueue($this->timers->extract()['data']);
            }
        }
    }
}
