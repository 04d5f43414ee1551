<?php

declare(strict_types=1);

namespace Spindle\React;

use Async\Poll;
use React\EventLoop\LoopInterface;
use React\EventLoop\Timer\Timer;
use React\EventLoop\TimerInterface;

/**
 * A loop of ReactPHP on Spindle's event loop. While it waits, other coroutines run. Its methods may be called from any coroutine;
 * the listeners run in that of `run()`.
 */
final class SpindleLoop implements LoopInterface
{
    /** How many cancelled timers are kept at least before their entries are removed. */
    private const MIN_CANCELLED = 1024;

    private readonly Poll $poll;

    private readonly \SplQueue $ticks;

    /** @var \SplMinHeap<array{float, int, TimerInterface}> when a timer is due, the number of the entry, and the timer */
    private \SplMinHeap $schedule;

    /** @var \SplObjectStorage<TimerInterface, int> the timers that are not cancelled, with the numbers of their entries */
    private readonly \SplObjectStorage $timers;

    private int $lastEntry = 0;

    /** @var array<int, callable> by the numbers of streams */
    private array $readers = [];

    /** @var array<int, callable> by the numbers of streams */
    private array $writers = [];

    /** @var array<int, list<callable>> */
    private array $signals = [];

    private bool $isRunning = false;

    /** A coroutine is in `wait()`, or was when a fork or an `exit` abandoned it. */
    private bool $mayWait = false;

    public function __construct()
    {
        $this->poll = new Poll();
        $this->ticks = new \SplQueue();
        $this->schedule = new \SplMinHeap();
        $this->timers = new \SplObjectStorage();
    }

    // Poll looks again by itself when a stream is added or the last one removed.

    public function addReadStream($stream, $listener): void
    {
        $id = (int) $stream;
        if (!isset($this->readers[$id])) {
            $this->poll->watchRead($stream);
            // It is called often: a closure does not have to be looked up each time.
            $this->readers[$id] = \is_callable($listener) ? $listener(...) : $listener;
        }
    }

    public function addWriteStream($stream, $listener): void
    {
        $id = (int) $stream;
        if (!isset($this->writers[$id])) {
            $this->poll->watchWrite($stream);
            $this->writers[$id] = $listener;
        }
    }

    public function removeReadStream($stream): void
    {
        $id = (int) $stream;
        if (isset($this->readers[$id])) {
            unset($this->readers[$id]);
            $this->poll->unwatchRead($stream);
        }
    }

    public function removeWriteStream($stream): void
    {
        $id = (int) $stream;
        if (isset($this->writers[$id])) {
            unset($this->writers[$id]);
            $this->poll->unwatchWrite($stream);
        }
    }

    public function addTimer($interval, $callback): TimerInterface
    {
        return $this->add(new Timer(self::checked($interval), $callback, false));
    }

    public function addPeriodicTimer($interval, $callback): TimerInterface
    {
        return $this->add(new Timer(self::checked($interval), $callback, true));
    }

    private static function checked(mixed $interval): mixed
    {
        if (\is_float($interval) && \is_nan($interval)) {
            throw new \ValueError('The interval of a timer is not a number');
        }
        return $interval;
    }

    private function add(TimerInterface $timer): TimerInterface
    {
        $this->enter($timer, self::now());
        $this->changed();
        return $timer;
    }

    private function enter(TimerInterface $timer, float $now): void
    {
        $this->timers[$timer] = ++$this->lastEntry;
        $this->schedule->insert([$now + $timer->getInterval(), $this->lastEntry, $timer]);
    }

    public function cancelTimer(TimerInterface $timer): void
    {
        if (!isset($this->timers[$timer])) {
            return;
        }
        unset($this->timers[$timer]);
        if (\count($this->schedule) > 2 * \count($this->timers) + self::MIN_CANCELLED) {
            $entries = $this->schedule;
            $this->schedule = new \SplMinHeap();
            foreach ($entries as $entry) {
                $this->isValid($entry) && $this->schedule->insert($entry);
            }
        }
        $this->changed();
    }

    /** Returns whether the timer of an entry was neither cancelled nor entered again. */
    private function isValid(array $entry): bool
    {
        return isset($this->timers[$entry[2]]) && $this->timers[$entry[2]] === $entry[1];
    }

    public function futureTick($listener): void
    {
        $this->ticks->enqueue($listener);
        $this->changed();
    }

    public function addSignal($signal, $listener): void
    {
        if (!isset($this->signals[$signal])) {
            $this->poll->watchSignal($signal);
        }
        if (!\in_array($listener, $this->signals[$signal] ?? [], true)) {
            $this->signals[$signal][] = $listener;
        }
        $this->changed();
    }

    public function removeSignal($signal, $listener): void
    {
        $index = \array_search($listener, $this->signals[$signal] ?? [], true);
        if ($index === false) {
            return;
        }
        unset($this->signals[$signal][$index]);
        if (!$this->signals[$signal]) {
            unset($this->signals[$signal]);
            $this->poll->unwatchSignal($signal);
        }
        $this->changed();
    }

    public function run(): void
    {
        if ($this->poll->isWaiting()) {
            throw new \LogicException('The loop runs in another coroutine');
        }
        $this->isRunning = true;
        while ($this->isRunning) {
            $this->runTicks();
            $this->runTimers();
            if (!$this->isRunning || !$this->ticks->isEmpty()) {
                $timeout = 0.0;
            } elseif (($due = $this->firstDue()) !== null) {
                $timeout = \max(0.0, $due - self::now());
            } elseif ($this->readers || $this->writers || $this->signals) {
                $timeout = null;
            } else {
                break;
            }
            $this->wait($timeout);
        }
    }

    public function stop(): void
    {
        $this->isRunning = false;
        $this->changed();
    }

    private static function now(): float
    {
        return \hrtime(true) * 1e-9;
    }

    /** Makes a wait look again, if another coroutine has changed what it waits for. */
    private function changed(): void
    {
        if ($this->mayWait && $this->poll->isWaiting()) {
            $this->poll->wake();
        }
    }

    /** Calls the listeners that are in the queue now. */
    private function runTicks(): void
    {
        for ($count = $this->ticks->count(); $count > 0 && !$this->ticks->isEmpty(); $count--) {
            ($this->ticks->dequeue())();
        }
    }

    /** Calls the callbacks of timers that are due now, and not of those that they add. */
    private function runTimers(): void
    {
        if ($this->schedule->isEmpty()) {
            return;
        }
        $now = self::now();
        [$due, $next] = [[], 0];
        while (!$this->schedule->isEmpty() && $this->schedule->top()[0] <= $now) {
            $due[] = $this->schedule->extract();
        }
        try {
            while (isset($due[$next])) {
                $entry = $due[$next++];
                if (!$this->isValid($entry)) {
                    continue;
                }
                $timer = $entry[2];
                if ($timer->isPeriodic()) {
                    $this->enter($timer, $now);
                } else {
                    unset($this->timers[$timer]);
                }
                ($timer->getCallback())($timer);
            }
        } finally {
            for (; isset($due[$next]); $next++) { // one has thrown
                $this->schedule->insert($due[$next]);
            }
        }
    }

    /** Returns when the first timer is due; null if there is none. */
    private function firstDue(): ?float
    {
        while (!$this->schedule->isEmpty()) {
            $entry = $this->schedule->top();
            if ($this->isValid($entry)) {
                return $entry[0];
            }
            $this->schedule->extract();
        }
        return null;
    }

    private function wait(?float $seconds): void
    {
        $this->mayWait = true;
        try {
            [$readable, $writable, $signals] = $this->poll->wait($seconds);
        } finally {
            $this->mayWait = false;
        }
        foreach ($signals as $signal) {
            foreach ($this->signals[$signal] ?? [] as $listener) {
                $listener($signal);
            }
        }
        foreach ($readable as $stream) {
            $id = (int) $stream;
            if (isset($this->readers[$id])) {
                \is_resource($stream) || self::throwClosed();
                ($this->readers[$id])($stream);
            }
        }
        foreach ($writable as $stream) {
            $id = (int) $stream;
            if (isset($this->writers[$id])) {
                \is_resource($stream) || self::throwClosed();
                ($this->writers[$id])($stream);
            }
        }
    }

    private static function throwClosed(): never
    {
        throw new \TypeError('A stream was closed while the loop watched it: remove a stream from the loop before closing it');
    }
}
