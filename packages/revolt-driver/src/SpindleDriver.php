<?php

declare(strict_types=1);

namespace Spindle\Revolt;

use Async\Poll;
use Revolt\EventLoop\Internal\AbstractDriver;
use Revolt\EventLoop\Internal\DriverCallback;
use Revolt\EventLoop\Internal\SignalCallback;
use Revolt\EventLoop\Internal\StreamReadableCallback;
use Revolt\EventLoop\Internal\StreamWritableCallback;
use Revolt\EventLoop\Internal\TimerCallback;
use Revolt\EventLoop\Internal\TimerQueue;
use Revolt\EventLoop\UnsupportedFeatureException;

/**
 * A driver of Revolt on Spindle's event loop. While the loop waits, other coroutines run. Its methods may be called from any
 * coroutine; the callbacks run in that of `run()`.
 */
final class SpindleDriver extends AbstractDriver
{
    private readonly Poll $poll;

    private readonly TimerQueue $timers;

    /** @var array<int, array<string, StreamReadableCallback>> by the numbers of streams */
    private array $readers = [];

    /** @var array<int, array<string, StreamWritableCallback>> by the numbers of streams */
    private array $writers = [];

    /** @var array<int, array<string, SignalCallback>> */
    private array $signals = [];

    /** What the loop waits for has changed since it last looked whether anything is left to wait for. */
    private bool $isChanged = false;

    /** Returns whether the extension is loaded. */
    public static function isSupported(): bool
    {
        return \class_exists(Poll::class, false);
    }

    public function __construct()
    {
        parent::__construct();
        $this->poll = new Poll();
        $this->timers = new TimerQueue();
    }

    public function getHandle(): Poll
    {
        return $this->poll;
    }

    // What follows may be called by another coroutine while the loop waits, which then has to look again.

    public function stop(): void
    {
        parent::stop();
        $this->changed();
    }

    public function queue(\Closure $closure, mixed ...$args): void
    {
        parent::queue($closure, ...$args);
        $this->changed();
    }

    public function defer(\Closure $closure): string
    {
        return $this->changed(parent::defer($closure));
    }

    public function delay(float $delay, \Closure $closure): string
    {
        return $this->changed(parent::delay($delay, $closure));
    }

    public function repeat(float $interval, \Closure $closure): string
    {
        return $this->changed(parent::repeat($interval, $closure));
    }

    public function onReadable(mixed $stream, \Closure $closure): string
    {
        return $this->changed(parent::onReadable($stream, $closure));
    }

    public function onWritable($stream, \Closure $closure): string
    {
        return $this->changed(parent::onWritable($stream, $closure));
    }

    public function onSignal(int $signal, \Closure $closure): string
    {
        return $this->changed(parent::onSignal($signal, $closure));
    }

    public function enable(string $callbackId): string
    {
        return $this->changed(parent::enable($callbackId));
    }

    public function disable(string $callbackId): string
    {
        return $this->changed(parent::disable($callbackId));
    }

    public function reference(string $callbackId): string
    {
        return $this->changed(parent::reference($callbackId));
    }

    public function unreference(string $callbackId): string
    {
        return $this->changed(parent::unreference($callbackId));
    }

    private function changed(string $callbackId = ''): string
    {
        $this->isChanged = true;
        if ($this->poll->isWaiting()) {
            $this->poll->wake();
        }
        return $callbackId;
    }

    protected function now(): float
    {
        return \hrtime(true) / 1_000_000_000;
    }

    protected function dispatch(bool $blocking): void
    {
        // A callback that another coroutine has deferred may have cancelled the last one: the loop looks again.
        $blocking = $blocking && !$this->isChanged;
        $this->isChanged = false;
        [$readable, $writable, $signals] = $this->poll->wait($blocking ? $this->getTimeout() : 0.0);
        foreach ($signals as $signal) {
            foreach ($this->signals[$signal] ?? [] as $callback) {
                $this->enqueueCallback($callback);
            }
        }
        foreach ($readable as $found) {
            if (\is_object($found)) {
                $this->enqueueCallback($found);
            } else {
                $this->enqueueAll($found);
            }
        }
        foreach ($writable as $found) {
            if (\is_object($found)) {
                $this->enqueueCallback($found);
            } else {
                $this->enqueueAll($found);
            }
        }
        $now = $this->now();
        while ($callback = $this->timers->extract($now)) {
            $this->enqueueCallback($callback);
        }
    }

    /** @param array<string, DriverCallback>|resource $found the callbacks of a stream, or a stream that was closed */
    private function enqueueAll(mixed $found): void
    {
        if (!\is_array($found)) {
            throw new \Error('A stream was closed while the event loop watched it: cancel all callbacks of a stream before closing it');
        }
        foreach ($found as $callback) {
            $this->enqueueCallback($callback);
        }
    }

    /** Returns the number of seconds until the next timer expires; null if there is none. */
    private function getTimeout(): ?float
    {
        $expiration = $this->timers->peek();
        return $expiration === null ? null : \max(0.0, $expiration - $this->now());
    }

    /**
     * Returns what is found for a stream that is ready. Most have one callback, which needs no loop.
     *
     * @template T
     * @param array<string, T> $callbacks
     * @return T|array<string, T>
     */
    private static function found(array $callbacks): DriverCallback|array
    {
        return \count($callbacks) === 1 ? \reset($callbacks) : $callbacks;
    }

    protected function activate(array $callbacks): void
    {
        foreach ($callbacks as $callback) {
            if ($callback instanceof StreamReadableCallback) {
                $id = (int) $callback->stream;
                $callbacks = ($this->readers[$id] ?? []) + [$callback->id => $callback];
                $this->poll->watchRead($callback->stream, self::found($callbacks));
                $this->readers[$id] = $callbacks;
            } elseif ($callback instanceof StreamWritableCallback) {
                $id = (int) $callback->stream;
                $callbacks = ($this->writers[$id] ?? []) + [$callback->id => $callback];
                $this->poll->watchWrite($callback->stream, self::found($callbacks));
                $this->writers[$id] = $callbacks;
            } elseif ($callback instanceof TimerCallback) {
                $this->timers->insert($callback);
            } elseif ($callback instanceof SignalCallback) {
                try {
                    $this->poll->watchSignal($callback->signal);
                } catch (\ValueError $error) {
                    throw new UnsupportedFeatureException("Signal $callback->signal cannot be caught", 0, $error);
                }
                $this->signals[$callback->signal][$callback->id] = $callback;
            } else {
                throw new \Error('Unknown callback type');
            }
        }
    }

    protected function deactivate(DriverCallback $callback): void
    {
        if ($callback instanceof StreamReadableCallback) {
            $id = (int) $callback->stream;
            unset($this->readers[$id][$callback->id]);
            if (empty($this->readers[$id])) {
                unset($this->readers[$id]);
                $this->poll->unwatchRead($callback->stream);
            } elseif (\is_resource($callback->stream)) {
                $this->poll->watchRead($callback->stream, self::found($this->readers[$id]));
            }
        } elseif ($callback instanceof StreamWritableCallback) {
            $id = (int) $callback->stream;
            unset($this->writers[$id][$callback->id]);
            if (empty($this->writers[$id])) {
                unset($this->writers[$id]);
                $this->poll->unwatchWrite($callback->stream);
            } elseif (\is_resource($callback->stream)) {
                $this->poll->watchWrite($callback->stream, self::found($this->writers[$id]));
            }
        } elseif ($callback instanceof TimerCallback) {
            $this->timers->remove($callback);
        } elseif ($callback instanceof SignalCallback) {
            unset($this->signals[$callback->signal][$callback->id]);
            if (empty($this->signals[$callback->signal])) {
                unset($this->signals[$callback->signal]);
                $this->poll->unwatchSignal($callback->signal);
            }
        } else {
            throw new \Error('Unknown callback type');
        }
    }
}
