<?php

/** Channels, futures, semaphores, pools and functions for many awaitables: see docs/channels.md. */
namespace Async {
    /**
     * Carries values between coroutines, in the order in which they were sent. Receivers and senders that wait are served in order
     * of arrival. A receiver that is cancelled after it was given a value passes that on to the next one.
     *
     * @template T
     * @implements \IteratorAggregate<int, T>
     */
    final class Channel implements \IteratorAggregate, \Countable
    {
        /**
         * $capacity: how many values are buffered; with 0 a sender waits for a receiver.
         *
         * @throws \ValueError if $capacity is negative
         */
        public function __construct(int $capacity = 0) {}

        /**
         * Sends a value, and returns when it was received or buffered. If it was, a cancellation that comes later is thrown at the
         * next suspension.
         *
         * @param T $value
         * @throws ChannelException if the channel is or gets closed
         * @throws AwaitCancelledException if $cancellation completes first; the value was not sent
         */
        public function send(mixed $value, ?Awaitable $cancellation = null): void {}

        /**
         * Receives the oldest value, and waits until there is one.
         *
         * @return T
         * @throws ChannelException if the channel is closed and has no value; the reason of its closing is the previous exception
         * @throws AwaitCancelledException if $cancellation completes first
         */
        public function recv(?Awaitable $cancellation = null): mixed {}

        /**
         * Sends a value if that needs no wait. Returns whether it was sent.
         *
         * @param T $value
         */
        public function trySend(mixed $value): bool {}

        /**
         * As trySend().
         *
         * @param T $value
         */
        public function sendAsync(mixed $value): bool {}

        /**
         * Receives a value if that needs no wait, otherwise returns null.
         *
         * @return T|null
         */
        public function tryRecv(): mixed {}

        /**
         * Closes the channel and wakes all who wait. What it has can still be received. Only the first call has an effect.
         * $reason: the previous exception of those that are thrown for it, which also end iterations.
         */
        public function close(?\Throwable $reason = null): void {}

        /** Returns whether it was closed. */
        public function isClosed(): bool {}

        /** Returns whether a receiver would have to wait for a sender. */
        public function isEmpty(): bool {}

        /** Returns whether the buffer has no room; always true with a capacity of 0. */
        public function isFull(): bool {}

        /** Returns how many values it has, without those of senders that wait. */
        public function count(): int {}

        /** Returns how many values it buffers. */
        public function capacity(): int {}

        /**
         * Returns an iterator that receives until the channel is closed and empty. Its keys are 0, 1, 2, …
         *
         * @return \Iterator<int, T>
         */
        public function getIterator(): \Iterator {}

        /**
         * Receives until the channel is closed, writes each value and $separator to a stream, and returns the number of bytes.
         *
         * @param resource $stream
         * @throws ChannelException if the channel was closed with a reason
         * @throws AsyncException if the stream cannot be written to
         */
        public function toStream(mixed $stream, string $separator = ''): int {}

        /**
         * Returns a channel of the lines of a stream with their line ends, or of chunks of at most $chunk bytes. A coroutine reads
         * them ahead, as far as $capacity allows, until the stream ends or the channel is closed or released. That cuts a read in
         * progress, after which PHP takes a socket for ended.
         *
         * @param resource $stream
         * @return Channel<string>
         * @throws \ValueError if $chunk or $capacity is negative
         */
        public static function fromStream(mixed $stream, int $chunk = 0, int $capacity = 0): Channel {}
    }

    /**
     * Created by Channel::getIterator(). Several iterators of a channel share its values.
     *
     * @template T
     * @implements \Iterator<int, T>
     */
    final class ChannelIterator implements \Iterator
    {
        /** @return T|null */
        public function current(): mixed {}

        public function key(): int {}

        /** @throws ChannelException if the channel was closed with a reason, and is empty */
        public function next(): void {}

        /** Receives the first value; has no effect later. */
        public function rewind(): void {}

        public function valid(): bool {}
    }

    /**
     * Provides the result of futures, once.
     *
     * @template T
     */
    final class FutureState
    {
        /**
         * Completes the futures with a result.
         *
         * @param T $result
         * @throws AsyncException if they are complete
         */
        public function complete(mixed $result = null): void {}

        /**
         * Completes the futures with a failure.
         *
         * @throws AsyncException if they are complete
         */
        public function error(\Throwable $throwable): void {}

        /** Prevents the warning of a failure that is never received. */
        public function ignore(): void {}

        /** Returns whether it was completed. */
        public function isCompleted(): bool {}
    }

    /**
     * A result that may come later. Its failure causes a warning if it is never received.
     *
     * @template-covariant T
     * @implements Awaitable<T>
     */
    final class Future implements Awaitable
    {
        /** @param FutureState<T> $state */
        public function __construct(FutureState $state) {}

        /**
         * Returns a future of the result of $callback, which is called with this one's result, in a coroutine of its own. A failure
         * passes by it.
         *
         * @template R
         * @param callable(T): R $callback
         * @return Future<R>
         */
        public function map(callable $callback): Future {}

        /**
         * Returns a future of the result of $callback, which is called with this one's failure. A result passes by it.
         *
         * @template R
         * @param callable(\Throwable): R $callback
         * @return Future<T|R>
         */
        public function catch(callable $callback): Future {}

        /**
         * Returns a future with this one's outcome, complete after $callback, which is called without arguments. If that throws, this
         * is the failure.
         *
         * @param callable(): void $callback
         * @return Future<T>
         */
        public function finally(callable $callback): Future {}

        /**
         * Waits as Async\await() does.
         *
         * @return T
         * @throws AwaitCancelledException if $cancellation completes first
         */
        public function await(?Awaitable $cancellation = null): mixed {}

        /**
         * Marks a failure as received, now or when it comes, and returns this future.
         *
         * @return Future<T>
         */
        public function ignore(): Future {}

        /** Returns whether it has a result or a failure. */
        public function isCompleted(): bool {}

        /**
         * Returns a future with this result.
         *
         * @template R
         * @param R $value
         * @return Future<R>
         */
        public static function completed(mixed $value = null): Future {}

        /**
         * Returns a future with this failure.
         *
         * @return Future<never>
         */
        public static function failed(\Throwable $throwable): Future {}
    }

    /**
     * Points in time at equal distances. The first is that of rewind(), so an iteration begins at once. Neither the work between them
     * nor a late wake-up delays the following ones; those that have passed meanwhile are left out. Keys and values are the numbers of
     * the ticks.
     *
     * @implements \Iterator<int, int>
     */
    final class Interval implements \Iterator
    {
        /** @throws \ValueError if $ms is less than 1 */
        public function __construct(int $ms) {}

        public function current(): int {}

        public function key(): int {}

        /** Waits for the next tick. */
        public function next(): void {}

        /** Begins anew. */
        public function rewind(): void {}

        /** Returns true: it has no end. */
        public function valid(): bool {}
    }

    /**
     * The next arrival of a signal. Created by signal().
     *
     * @implements Awaitable<int>
     */
    final class SignalArrival implements Awaitable
    {
        /** Returns whether the signal has arrived. */
        public function isCompleted(): bool {}
    }

    /** Limits how many coroutines do something at once. A permit that is released goes to the one that has waited longest. */
    final class Semaphore
    {
        /** @throws \ValueError if $permits is negative */
        public function __construct(int $permits) {}

        /**
         * Takes a permit, and waits until there is one.
         *
         * @throws AwaitCancelledException if $cancellation completes first
         */
        public function acquire(?Awaitable $cancellation = null): void {}

        /** Takes a permit if there is one. Returns whether there was. */
        public function tryAcquire(): bool {}

        /**
         * Gives back a permit, which another coroutine may have taken.
         *
         * @throws AsyncException if none is taken
         */
        public function release(): void {}

        /**
         * Calls $callback with a permit, and returns its result.
         *
         * @template R
         * @param callable(): R $callback
         * @return R
         * @throws AwaitCancelledException if $cancellation completes first
         */
        public function with(callable $callback, ?Awaitable $cancellation = null): mixed {}

        /** Returns how many permits are left. */
        public function available(): int {}
    }

    /**
     * Grants at most $permits in any period of $milliseconds, wherever that begins. Coroutines that wait are served in order of arrival,
     * and no permit is given back.
     */
    final class RateLimiter
    {
        /** @throws \ValueError if $permits or $milliseconds is less than 1 */
        public function __construct(int $permits, int $milliseconds) {}

        /**
         * Takes $n permits together, and waits until there are as many.
         *
         * @throws \ValueError if $n is less than 1, or greater than the permits of a period
         * @throws AwaitCancelledException if $cancellation completes first
         */
        public function acquire(int $n = 1, ?Awaitable $cancellation = null): void {}

        /**
         * Takes $n permits if there are as many and no coroutine waits. Returns whether it has.
         *
         * @throws \ValueError if $n is less than 1, or greater than the permits of a period
         */
        public function tryAcquire(int $n = 1): bool {}
    }

    /**
     * Lets one coroutine in at a time. It belongs to the coroutine that has locked it. If that ends without unlocking it, this causes
     * a warning, and the mutex goes to the next one.
     */
    final class Mutex
    {
        /**
         * @throws AsyncException if the running coroutine has locked it already
         * @throws AwaitCancelledException if $cancellation completes first
         */
        public function lock(?Awaitable $cancellation = null): void {}

        /** Locks it if it is not locked. Returns whether it was not. */
        public function tryLock(): bool {}

        /** @throws AsyncException if the running coroutine has not locked it */
        public function unlock(): void {}

        /**
         * Calls $callback while it is locked, and returns its result.
         *
         * @template R
         * @param callable(): R $callback
         * @return R
         * @throws AsyncException if the running coroutine has locked it already
         * @throws AwaitCancelledException if $cancellation completes first
         */
        public function with(callable $callback, ?Awaitable $cancellation = null): mixed {}

        /** Returns whether a coroutine has locked it. */
        public function isLocked(): bool {}
    }

    /** Lets coroutines wait for each other, again and again. */
    final class Barrier
    {
        /**
         * $parties: how many have to come.
         *
         * @throws \ValueError if $parties is less than 1
         */
        public function __construct(int $parties) {}

        /**
         * Waits until the others have come. Returns true to the one that comes last. One that is cancelled has not come.
         *
         * @throws AwaitCancelledException if $cancellation completes first
         */
        public function await(?Awaitable $cancellation = null): bool {}

        /** Returns how many wait. */
        public function waiting(): int {}
    }

    /**
     * Streams and signals that an event loop written in PHP waits for, as with stream_select(), but on Spindle's event loop: see
     * docs/fibers.md. What does not happen costs nothing, and other coroutines run during the wait.
     */
    final class Poll
    {
        /**
         * Watches whether data can be read from a stream, or a connection accepted.
         *
         * @param resource $stream
         * @param mixed $value what wait() returns in place of the stream while it is open, if not null; a later call replaces it
         * @throws \ValueError if the stream has no descriptor that could be polled
         */
        public function watchRead(mixed $stream, mixed $value = null): void {}

        /**
         * Watches whether data can be written to a stream.
         *
         * @param resource $stream
         * @param mixed $value what wait() returns in place of the stream while it is open, if not null; a later call replaces it
         * @throws \ValueError if the stream has no descriptor that could be polled
         */
        public function watchWrite(mixed $stream, mixed $value = null): void {}

        /**
         * Ends watchRead(). The stream may have been closed.
         *
         * @param resource $stream
         */
        public function unwatchRead(mixed $stream): void {}

        /**
         * Ends watchWrite(). The stream may have been closed.
         *
         * @param resource $stream
         */
        public function unwatchWrite(mixed $stream): void {}

        /**
         * Watches a signal. Its default action does not take place meanwhile.
         *
         * @throws \ValueError if there is no such signal, or it cannot be caught
         */
        public function watchSignal(int $signo): void {}

        /** Ends watchSignal(). */
        public function unwatchSignal(int $signo): void {}

        /**
         * Waits until something that is watched is ready, and returns all that is: an array of three lists, of streams to read from,
         * streams to write to, and signals. In place of a stream there is the value that was given for it. Suspends the current
         * coroutine, also in a fiber, and at least once if others are ready.
         *
         * A stream is ready as long as a call on it would not block: also at its end, after an error, with data in its buffer, and
         * when it was closed, until it is unwatched. The lists are empty when $seconds have passed, after wake(), when another
         * coroutine has removed the last watch, and when a handler of a signal has run. What is watched may be changed during the
         * wait.
         *
         * @param ?float $seconds at least 0; null waits without limit, which is a deadlock where nothing can end the wait
         * @return array{0: list<mixed>, 1: list<mixed>, 2: list<int>}
         * @throws \Error if another coroutine is in wait() of this object
         */
        public function wait(?float $seconds = null): array {}

        /** Returns whether a coroutine is in wait(). */
        public function isWaiting(): bool {}

        /** Ends the present wait(), or else the next one. */
        public function wake(): void {}
    }

    /**
     * Lends things that are expensive to make, such as connections, to one coroutine at a time. Coroutines that wait are served in order
     * of arrival.
     *
     * @template T
     */
    final class Pool implements \Countable
    {
        /**
         * A thing is an object, a resource, a string or an integer.
         *
         * @param callable(): T $factory makes one; it may suspend
         * @param null|callable(T): void $destructor called with one that is left out for good
         * @param null|callable(T): mixed $healthcheck called before a free one is lent; false: it is destroyed
         * @param null|callable(T): mixed $beforeAcquire called before one is lent, also a new one; false: it is destroyed
         * @param null|callable(T): mixed $beforeRelease resets one that is given back; false: it is destroyed
         * @param int $min how many are made at once, and kept by $idleTime
         * @param int $max how many there are at most
         * @param int $healthcheckInterval ms for which one has to be free before it is checked
         * @param int $idleTime ms after which a free one is destroyed, when the pool is used next; 0: never
         * @throws \ValueError if a number is negative, $max is 0, or $min is greater than $max
         */
        public function __construct(callable $factory, ?callable $destructor = null, ?callable $healthcheck = null, ?callable $beforeAcquire = null, ?callable $beforeRelease = null, int $min = 0, int $max = 10, int $healthcheckInterval = 0, int $idleTime = 0) {}

        /**
         * Takes a thing, and waits until one is free or may be made.
         *
         * @return T
         * @throws AsyncException if the pool is or gets closed
         * @throws AwaitCancelledException if $cancellation completes first
         */
        public function acquire(?Awaitable $cancellation = null): mixed {}

        /**
         * Takes a thing if one is free or may be made, otherwise returns null.
         *
         * @return T|null
         * @throws AsyncException if the pool is closed
         */
        public function tryAcquire(): mixed {}

        /**
         * Gives a thing back. One that is $broken is destroyed.
         *
         * @param T $resource
         * @throws AsyncException if the pool has not lent it
         */
        public function release(mixed $resource, bool $broken = false): void {}

        /**
         * Calls $callback with a thing, and returns its result. If $callback throws and there is no $beforeRelease, the thing is
         * destroyed.
         *
         * @template R
         * @param callable(T): R $callback
         * @return R
         */
        public function with(callable $callback, ?Awaitable $cancellation = null): mixed {}

        /** Closes the pool, and destroys what is free. What is lent is destroyed when it is given back. */
        public function close(): void {}

        /** Returns whether it was closed. */
        public function isClosed(): bool {}

        /** Returns how many things there are. */
        public function count(): int {}

        /** Returns how many are free. */
        public function idleCount(): int {}

        /** Returns how many are lent. */
        public function activeCount(): int {}

        /**
         * Makes a pool of connections. One that is released in a transaction is rolled back, and one that is lost comes back. Arguments
         * as those of PooledPDO.
         *
         * @param null|callable(\PDO): mixed $reset
         * @return Pool<\PDO>
         * @throws AsyncException if the extension pdo is not loaded
         */
        public static function pdo(string $dsn, ?string $username = null, ?string $password = null, ?array $options = null, int $max = 10, int $min = 0, int $healthcheckInterval = 1000, int $idleTime = 0, ?callable $reset = null): Pool {}

        /**
         * Makes a pool of connections, as pdo() does. Arguments as those of PooledRedis.
         *
         * @param null|callable(\Redis): mixed $reset
         * @return Pool<\Redis>
         * @throws AsyncException if the extension redis is not loaded
         */
        public static function redis(string $host = '127.0.0.1', int $port = 6379, float $timeout = 0.0, mixed $auth = null, int $database = 0, int $max = 10, int $min = 0, int $healthcheckInterval = 1000, int $idleTime = 0, ?callable $reset = null): Pool {}

        /**
         * Makes a pool of connections, as pdo() does. Arguments as those of PooledMysqli. One that is released is made as it was when it
         * was new.
         *
         * @param null|callable(\mysqli): mixed $reset called with a connection that another coroutine has used; false: it is closed
         * @return Pool<\mysqli>
         * @throws AsyncException if the extension mysqli is not loaded
         */
        public static function mysqli(?string $hostname = null, ?string $username = null, ?string $password = null, ?string $database = null, ?int $port = null, ?string $socket = null, int $max = 10, int $min = 0, int $healthcheckInterval = 1000, int $idleTime = 0, ?callable $reset = null): Pool {}
    }

    /**
     * Waits until one of several operations can be carried out, carries out that one alone, and returns its key in $operations and its
     * result. Of several that can be, each is as likely.
     *
     * An operation is a Channel, from which a value is received; an array of a Channel and a value, which is sent; or an Awaitable, whose
     * result is awaited.
     *
     * @template TKey of int|string
     * @param non-empty-array<TKey, Channel|Awaitable<mixed>|array{0: Channel, 1: mixed}> $operations
     * @param Awaitable<mixed>|null $cancellation
     * @return array{0: TKey, 1: mixed}
     * @throws ChannelException if the channel of the chosen operation is closed
     * @throws AwaitCancelledException if $cancellation completes first
     */
    function select(array $operations, ?Awaitable $cancellation = null): array {}

    /**
     * As select(), but returns null if that would wait.
     *
     * @template TKey of int|string
     * @param non-empty-array<TKey, Channel|Awaitable<mixed>|array{0: Channel, 1: mixed}> $operations
     * @return array{0: TKey, 1: mixed}|null
     */
    function trySelect(array $operations): ?array {}

    /**
     * Waits for all. Returns their results, with the keys and in the order of $awaitables. Later failures of those that are given up,
     * here and by the functions below, are no unhandled ones.
     *
     * @template TKey of int|string
     * @template T
     * @param iterable<TKey, Awaitable<T>> $awaitables
     * @param Awaitable<mixed>|null $cancellation
     * @return array<TKey, T>
     * @throws \Throwable the first failure, as soon as it is known; the others go on
     * @throws AwaitCancelledException if $cancellation completes first
     */
    function awaitAll(iterable $awaitables, ?Awaitable $cancellation = null): array {}

    /**
     * Waits for all. Returns how each has ended, with the keys and in the order of $awaitables. Their failures count as received.
     *
     * @template TKey of int|string
     * @template T
     * @param iterable<TKey, Awaitable<T>> $awaitables
     * @param Awaitable<mixed>|null $cancellation
     * @return array<TKey, Settled<T>>
     * @throws AwaitCancelledException if $cancellation completes first
     */
    function awaitAllSettled(iterable $awaitables, ?Awaitable $cancellation = null): array {}

    /**
     * Waits for the one that is complete first, and returns its result or throws its failure. The others go on.
     *
     * @template T
     * @param iterable<mixed, Awaitable<T>> $awaitables
     * @param Awaitable<mixed>|null $cancellation
     * @return T
     */
    function awaitAny(iterable $awaitables, ?Awaitable $cancellation = null): mixed {}

    /**
     * Waits for the first result. The others go on.
     *
     * @template T
     * @param iterable<mixed, Awaitable<T>> $awaitables
     * @param Awaitable<mixed>|null $cancellation
     * @return T
     * @throws CompositeException if all have failed
     */
    function awaitFirst(iterable $awaitables, ?Awaitable $cancellation = null): mixed {}

    /**
     * Waits for the first $count results. Returns them with the keys of $awaitables, in the order in which they were found.
     *
     * @template TKey of int|string
     * @template T
     * @param iterable<TKey, Awaitable<T>> $awaitables
     * @param Awaitable<mixed>|null $cancellation
     * @return array<TKey, T>
     * @throws CompositeException if that many can no longer complete
     */
    function awaitAnyOf(int $count, iterable $awaitables, ?Awaitable $cancellation = null): array {}

    /**
     * Calls $callback with each value and its key, in coroutines of their own, at most $concurrency at a time; 0: all at once. Waits for
     * all of them. An element is asked for when there is room for its call. When $callback returns false, no further one is.
     *
     * @template TKey
     * @template TValue
     * @param iterable<TKey, TValue> $iterable
     * @param callable(TValue, TKey): mixed $callback
     * @throws \ValueError if $concurrency is negative
     * @throws \Throwable the first failure of a call or of the iterator, after the other calls were cancelled and have ended
     */
    function iterate(iterable $iterable, callable $callback, int $concurrency = 0): void {}

    /**
     * Calls $callback with each value and its key, in coroutines of their own, at most $concurrency at a time; 0: all at once. Returns
     * the results, with the keys and in the order of $items. An item is asked for when there is room for its call. It is a group: the
     * first failure of a call, or of what that has spawned, cancels the rest, and is thrown when all have ended.
     *
     * @template TKey of int|string
     * @template T
     * @template R
     * @param iterable<TKey, T> $items
     * @param callable(T, TKey): R $callback
     * @param Awaitable<mixed>|null $cancellation
     * @return array<TKey, R>
     * @throws \ValueError if $concurrency is negative
     * @throws AwaitCancelledException if $cancellation completes first, when all calls have ended
     */
    function map(iterable $items, callable $callback, int $concurrency = 0, ?Awaitable $cancellation = null): array {}

    /**
     * Calls each of $tasks in a coroutine of its own, and returns the result of the first one that succeeds, when the others have been
     * cancelled and have ended. Each is a group. With $stagger each begins that many milliseconds after the one before it, or when that
     * one has failed.
     *
     * @template R
     * @param iterable<mixed, callable(): R> $tasks
     * @return R
     * @throws CompositeException if all have failed
     * @throws \ValueError if there is no task, or $stagger is negative
     */
    function race(iterable $tasks, int $stagger = 0): mixed {}

    /**
     * Calls $task with the number of the attempt, from 1 on, until it returns, at most $attempts times, and returns its result. Between
     * two attempts it waits: first $delay milliseconds, then $factor times as long each time, and by chance up to the fraction $jitter
     * more or less. The last failure is thrown, a cancellation at once, and so is a failure for which $when returns false.
     *
     * @template R
     * @param callable(int): R $task
     * @param (callable(\Throwable): bool)|null $when
     * @return R
     * @throws \ValueError if $attempts is less than 1, $delay is negative, $factor is less than 1, or $jitter is not between 0 and 1
     */
    function retry(callable $task, int $attempts = 3, int $delay = 100, float $factor = 2.0, float $jitter = 0.1, ?callable $when = null): mixed {}

    /**
     * Returns an awaitable of the next arrival of a signal; its result is the number. As long as it is not complete and not destroyed, the
     * signal's default action does not take place.
     *
     * @return Awaitable<int>
     * @throws \ValueError if there is no such signal, or it cannot be caught
     */
    function signal(int $signo): Awaitable {}

    /**
     * Waits for all. Returns an array of the results and an array of the failures; see docs/upstream.md.
     *
     * @template TKey of int|string
     * @template T
     * @param iterable<TKey, Awaitable<T>> $triggers
     * @param Awaitable<mixed>|null $cancellation
     * @return array{0: array<TKey, T|null>, 1: array<TKey, \Throwable>}
     */
    function await_all(iterable $triggers, ?Awaitable $cancellation = null, bool $preserveKeyOrder = true, bool $fillNull = false): array {}

    /**
     * As awaitAll().
     *
     * @template TKey of int|string
     * @template T
     * @param iterable<TKey, Awaitable<T>> $triggers
     * @param Awaitable<mixed>|null $cancellation
     * @return array<TKey, T>
     */
    function await_all_or_fail(iterable $triggers, ?Awaitable $cancellation = null, bool $preserveKeyOrder = true): array {}

    /**
     * As awaitAny().
     *
     * @template T
     * @param iterable<mixed, Awaitable<T>> $triggers
     * @param Awaitable<mixed>|null $cancellation
     * @return T
     */
    function await_any_or_fail(iterable $triggers, ?Awaitable $cancellation = null): mixed {}

    /**
     * Waits for the first result. Returns it, null if all have failed, and an array of the failures until then.
     *
     * @template TKey of int|string
     * @template T
     * @param iterable<TKey, Awaitable<T>> $triggers
     * @param Awaitable<mixed>|null $cancellation
     * @return array{0: T|null, 1: array<TKey, \Throwable>}
     */
    function await_first_success(iterable $triggers, ?Awaitable $cancellation = null): array {}

    /**
     * Waits for $count results. Returns an array of them and an array of the failures until then.
     *
     * @template TKey of int|string
     * @template T
     * @param iterable<TKey, Awaitable<T>> $triggers
     * @param Awaitable<mixed>|null $cancellation
     * @return array{0: array<TKey, T|null>, 1: array<TKey, \Throwable>}
     */
    function await_any_of(int $count, iterable $triggers, ?Awaitable $cancellation = null, bool $preserveKeyOrder = true, bool $fillNull = false): array {}

    /**
     * Waits until $count are complete, and returns their results.
     *
     * @template TKey of int|string
     * @template T
     * @param iterable<TKey, Awaitable<T>> $triggers
     * @param Awaitable<mixed>|null $cancellation
     * @return array<TKey, T>
     * @throws \Throwable the first failure among them
     */
    function await_any_of_or_fail(int $count, iterable $triggers, ?Awaitable $cancellation = null, bool $preserveKeyOrder = true): array {}

    /**
     * As currentCoroutine().
     *
     * @return Coroutine<mixed>
     */
    function current_coroutine(): Coroutine {}

    /**
     * As getCoroutines().
     *
     * @return Coroutine<mixed>[]
     */
    function get_coroutines(): array {}

    /** As localContext(). */
    function coroutine_context(): Context {}

    /** As gracefulShutdown(). */
    function graceful_shutdown(?\Throwable $e = null): void {}
}
