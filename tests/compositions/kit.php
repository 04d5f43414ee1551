<?php
/**
 * What the programs of this suite are made of, beside the features: jobs, and ways to wait. With Spindle a job waits by giving way
 * to others; without, the same calls go on at once. So a program has the same results, if coroutines are what they promise.
 */
declare(strict_types=1);

namespace Compositions;

use Async\Channel;

/** Whether jobs run beside each other. */
\define('Compositions\CONCURRENT', \extension_loaded('spindle'));

/** Thrown by features, so that nothing else is taken for it. */
class Thrown extends \RuntimeException {}
final class OtherThrown extends Thrown {}

/** One job: the only thing that its features change outside of themselves. Whatever else jobs share is only read. */
final class Job
{
    /** @var list<string> what it has said, in its order */
    public array $said = [];
    private int $state;

    public function __construct(public readonly string $name, int $seed)
    {
        $this->state = $seed & 0x7fffffff;
    }

    /** A number from 0 to $below - 1: the same ones for each run of the job. */
    public function draw(int $below): int
    {
        $this->state = ($this->state * 1103515245 + 12345) & 0x7fffffff;
        return ($this->state >> 8) % $below;
    }

    public function say(string $text): void
    {
        $this->said[] = $text;
    }

    /** A job of this job's, whose numbers do not depend on who of them is first. */
    public function part(int $number): self
    {
        return new self("$this->name.$number", $this->draw(1 << 20) + $number);
    }

    /**
     * Runs the body with an error handler and an output buffer of its own.
     *
     * @return array{value?: mixed, thrown?: list<string>, said: list<string>, printed: string}
     */
    public function run(\Closure $body): array
    {
        $level = \ob_get_level();
        $reporting = \error_reporting();
        \ob_start();
        \set_error_handler(function (int $severity, string $message): bool {
            $this->say("error $severity: $message");
            return true;
        });
        try {
            $result = ['value' => plain($body($this))];
        } catch (\Throwable $e) {
            for ($result = ['thrown' => []]; $e; $e = $e->getPrevious()) {
                $result['thrown'][] = $e::class . ': ' . $e->getMessage();
            }
        }
        unset($body, $e);
        \restore_error_handler();
        if (\ob_get_level() !== $level + 1 || \error_reporting() !== $reporting) {
            $this->say('buffers: ' . \ob_get_level() - $level . ', reporting: ' . \error_reporting());
        }
        for ($printed = ''; \ob_get_level() > $level;) {
            $printed = \ob_get_clean() . $printed;
        }
        return $result + ['said' => $this->said, 'printed' => $printed];
    }
}

/** A value without objects, of which JSON can be made. */
function plain(mixed $value, int $depth = 0): mixed
{
    return match (true) {
        $depth > 12 => '…',
        \is_array($value) => \array_map(static fn ($v) => plain($v, $depth + 1), $value),
        $value instanceof \Closure, $value instanceof \Generator => $value::class,
        \is_object($value) => [$value::class => plain(\get_mangled_object_vars($value), $depth + 1)],
        \is_resource($value) => 'a resource',
        \is_float($value) => \is_finite($value) ? \round($value, 9) : (string) $value,
        \is_string($value) => \str_replace("\0", '~', \mb_check_encoding($value, 'UTF-8') ? $value : \bin2hex($value)),
        default => $value,
    };
}

/** Waits, in one of many ways. Returns nothing of interest. */
function w(Job $j): void
{
    [$way, $more] = [$j->draw(18), $j->draw(300)];
    if (!CONCURRENT) {
        return;
    }
    match ($way) {
        0, 1, 2, 3 => \Async\suspend(),
        4 => \Async\delay($more % 3),
        5 => \usleep($more),
        6 => \time_nanosleep(0, $more * 1000),
        7 => pipe(false),
        8 => pipe(true),
        9 => \Async\await(\Async\spawn(static fn () => \Async\suspend())),
        10 => \Async\awaitAll([\Async\spawn(\Async\suspend(...)), \Async\spawn('usleep', 10)]),
        11 => channel(),
        12 => mutex(),
        13 => selected(),
        14 => \file_get_contents(__FILE__, length: 100),
        15 => $more % 6 === 0 ? \exec('true') : \Async\suspend(),
        16 => \gethostbyname('localhost'),
        17 => [\Async\suspend(), \Async\suspend(), \Async\suspend()],
    };
}

/** Reads what another coroutine writes when it has its turn. */
function pipe(bool $select): void
{
    [$a, $b] = \stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    \Async\spawn(static function () use ($b): void {
        \Async\suspend();
        try {
            @\fwrite($b, 'x');
        } catch (Thrown) {
            // The reader was cancelled, and the job's error handler, which is this coroutine's too, throws.
        }
    });
    if ($select) {
        [$read, $write, $except] = [[$a], [], []];
        \stream_select($read, $write, $except, 5);
    }
    \fread($a, 1) === 'x' || throw new \LogicException('the pipe had something else');
}

function selected(): void
{
    [$a, $b] = \stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    [$read, $write, $except] = [[$a], [$b], []];
    \stream_select($read, $write, $except, 1) === 1 || throw new \LogicException('a socket was not writable');
}

function channel(): void
{
    $channel = new Channel();
    \Async\spawn(static function () use ($channel): void {
        try {
            $channel->send('y');
        } catch (\Async\ChannelException) {
        }
    });
    try {
        $channel->recv() === 'y' || throw new \LogicException('the channel had something else');
    } finally {
        $channel->close();
    }
}

function mutex(): void
{
    static $mutex;
    $mutex ??= new \Async\Mutex();
    $mutex->lock();
    try {
        \Async\suspend();
    } finally {
        $mutex->unlock();
    }
}

/**
 * Runs several closures, each in a job of its own, at once where that can be had.
 *
 * @return list<array> their results
 */
function together(Job $j, \Closure ...$parts): array
{
    $way = $j->draw(5);
    $runs = [];
    foreach ($parts as $number => $part) {
        $job = $j->part($number);
        $runs[] = static fn (): array => $job->run($part);
    }
    if (!CONCURRENT) {
        return \array_map(static fn ($run) => $run(), $runs);
    }
    return match ($way) {
        0 => \Async\awaitAll(\array_map(\Async\spawn(...), $runs)),
        1 => \array_map(\Async\await(...), \array_map(\Async\spawn(...), $runs)),
        2 => (static function () use ($runs): array {
            $scope = \Async\Scope::inherit();
            $all = \array_map($scope->spawn(...), $runs);
            $scope->awaitCompletion(\Async\timeout(60_000));
            return \array_map(static fn ($one) => $one->getResult(), $all);
        })(),
        3 => (static function () use ($runs): array {
            $group = new \Async\CoroutineGroup();
            \array_map($group->spawn(...), $runs);
            return \Async\await($group);
        })(),
        4 => (static function () use ($runs): array {
            $results = [];
            \Async\iterate($runs, static function ($run, $key) use (&$results): void { $results[$key] = $run(); }, 2);
            \ksort($results);
            return $results;
        })(),
    };
}

/** Gives way, if that can be had, where no job is known. */
function pause(): void
{
    if (CONCURRENT) {
        \Async\suspend();
    }
}
