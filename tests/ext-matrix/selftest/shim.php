<?php
/*
 * Coroutines without any hook: spawn, await, delay and cancel work, on plain fibers, but whatever blocks blocks all.
 * The checks of the suite have to notice that.
 */
namespace Async;

interface Awaitable
{
    public function isCompleted(): bool;
}

class CancellationException extends \Exception {}
class AwaitCancelledException extends \Exception {}

final class Timeout implements Awaitable
{
    public function __construct(private float $end) {}

    public function isCompleted(): bool
    {
        return \microtime(true) >= $this->end;
    }
}

final class Coroutine implements Awaitable
{
    public static ?self $current = null;
    public static array $live = [];

    public mixed $result = null;
    public ?\Throwable $failure = null;
    public ?CancellationException $cancellation = null;
    private \Fiber $fiber;

    public function __construct(callable $task, array $arguments)
    {
        $this->fiber = new \Fiber(function () use ($task, $arguments): void {
            try {
                $this->result = $task(...$arguments);
            } catch (\Throwable $e) {
                $this->failure = $e;
            }
        });
        self::$live[] = $this;
    }

    public function isCompleted(): bool
    {
        return $this->fiber->isTerminated();
    }

    public function isSuspended(): bool
    {
        return $this->fiber->isSuspended();
    }

    public function cancel(): void
    {
        $this->cancellation = new CancellationException('cancelled');
    }

    public function getAwaitingInfo(): array
    {
        return [];
    }

    public function getSuspendLocation(): string
    {
        return 'somewhere';
    }

    /** Every coroutine goes on for one step. */
    public static function turn(): void
    {
        foreach (self::$live as $key => $coroutine) {
            self::$current = $coroutine;
            $coroutine->fiber->isStarted() ? $coroutine->fiber->resume() : $coroutine->fiber->start();
            self::$current = null;
            if ($coroutine->isCompleted()) {
                unset(self::$live[$key]);
            }
        }
        \usleep(100);
    }
}

function suspend(): void
{
    $me = Coroutine::$current;
    $me === null ? Coroutine::turn() : \Fiber::suspend();
    if ($me?->cancellation) {
        [$cancellation, $me->cancellation] = [$me->cancellation, null];
        throw $cancellation;
    }
}

function spawn(callable $task, mixed ...$arguments): Coroutine
{
    return new Coroutine($task, $arguments);
}

function timeout(int $ms): Timeout
{
    return new Timeout(\microtime(true) + $ms / 1000);
}

function delay(int $ms): void
{
    $end = timeout($ms);
    do {
        suspend();
    } while (!$end->isCompleted());
}

function await(Awaitable $awaitable, ?Awaitable $cancellation = null): mixed
{
    while (!$awaitable->isCompleted()) {
        if ($cancellation?->isCompleted()) {
            throw new AwaitCancelledException;
        }
        suspend();
    }
    return $awaitable instanceof Coroutine ? ($awaitable->failure ? throw $awaitable->failure : $awaitable->result) : null;
}
