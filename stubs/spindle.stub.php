<?php

/**
 * @generate-class-entries
 */

namespace Async {
    /** What can be awaited. Only Spindle's own classes implement it. */
    interface Awaitable
    {
    }

    /** A function that runs concurrently with others. Made by spawn(). */
    final class Coroutine implements Awaitable
    {
        private function __construct() {}

        /** A number that no other coroutine of this process has had. */
        public function getId(): int {}

        /** Has it begun to run? */
        public function isStarted(): bool {}

        /** Does it stand in the queue of those that are ready to run? */
        public function isQueued(): bool {}

        /** Is it the one that runs now? */
        public function isRunning(): bool {}

        /** Has it begun, and does it wait for something or for its turn? */
        public function isSuspended(): bool {}

        /** Did it end by its cancellation? */
        public function isCancelled(): bool {}

        /** Was cancel() called on it before its end? */
        public function isCancellationRequested(): bool {}

        /** Has it ended: returned, thrown, or been cancelled? */
        public function isCompleted(): bool {}

        /** What it returned; null before its end and when it did not return. */
        public function getResult(): mixed {}

        /** What it threw, or its cancellation; null before its end and when it returned. */
        public function getException(): ?\Throwable {}

        /**
         * Where it is suspended, as debug_backtrace() would say it there; empty unless it is suspended.
         * @return array<int, array<string, mixed>>
         */
        public function getTrace(int $options = DEBUG_BACKTRACE_PROVIDE_OBJECT, int $limit = 0): array {}

        /** @return array{0: string, 1: int} the file and line of its spawn; ['', 0] for the main coroutine */
        public function getSpawnFileAndLine(): array {}

        /** "FILE:LINE" of its spawn; '' for the main coroutine. */
        public function getSpawnLocation(): string {}

        /** @return array{0: string, 1: int} the file and line where it was suspended last; ['', 0] if never */
        public function getSuspendFileAndLine(): array {}

        /** "FILE:LINE" where it was suspended last; '' if never. */
        public function getSuspendLocation(): string {}

        /**
         * What it waits for: 'call' (a libc or Async function), and where it applies 'descriptor',
         * 'coroutines' (ids of those it awaits), 'since' (seconds it has waited). Empty unless it waits.
         * @return array<string, mixed>
         */
        public function getAwaitingInfo(): array {}

        /** The coroutine that spawned it, as long as that one is alive; null for the main coroutine. */
        public function getParent(): ?Coroutine {}

        /**
         * Asks for its end: it never starts, or goes on with this exception where it is suspended, or, when it
         * runs, gets it at its next suspension point. Nothing happens when it has completed.
         */
        public function cancel(?CancellationException $cancellation = null): void {}

        /** Calls $callback with the coroutine when it has completed; the last registered first. */
        public function onFinally(\Closure $callback): void {}

        /** @implementation-alias Async\Coroutine::onFinally */
        public function onExit(\Closure $callback): void {}
    }

    /** What timeout() returns: completes with null after its time. */
    final class Timeout implements Awaitable
    {
        private function __construct() {}

        /** Has the time passed? */
        public function isCompleted(): bool {}
    }

    class AsyncException extends \Exception
    {
    }

    /** The cancellation token of an await() completed first; its own exception, if it failed, is the previous one. */
    class AwaitCancelledException extends AsyncException
    {
    }

    class ContextException extends AsyncException
    {
    }

    class ChannelException extends AsyncException
    {
    }

    /** Thrown where a cancelled coroutine is suspended. Also named CancellationError and AsyncCancellation. */
    class CancellationException extends \Exception
    {
    }

    /** Several exceptions that have no other place to go. */
    final class CompositeException extends \Exception
    {
        private array $exceptions = [];

        /** @return \Throwable[] */
        public function getExceptions(): array {}
    }

    /** Nothing can run and nothing can happen, but coroutines still wait. */
    class DeadlockError extends \Error
    {
    }

    /**
     * Queues a call. It starts on a later turn of the scheduler, never inside spawn().
     * Arguments go by value; named and spread arguments pass through.
     *
     * @throws \TypeError when $task cannot be called
     */
    function spawn(callable $task, mixed ...$args): Coroutine {}

    /**
     * The result of what is awaited, or its failure: the very same exception object at every awaiting point.
     *
     * @throws AwaitCancelledException when $cancellation completes first; the awaited work goes on
     * @throws AsyncException when a coroutine awaits itself
     */
    function await(Awaitable $awaitable, ?Awaitable $cancellation = null): mixed {}

    /** Gives way: the current coroutine goes to the tail of the queue. Alone, it returns at once. */
    function suspend(): void {}

    /**
     * Suspends the current coroutine for $ms milliseconds.
     *
     * @throws \ValueError when $ms is negative
     */
    function delay(int $ms): void {}

    /**
     * An Awaitable that completes with null after $ms milliseconds. Its timer dies with the object.
     *
     * @throws \ValueError when $ms is negative
     */
    function timeout(int $ms): Timeout {}

    function currentCoroutine(): Coroutine {}

    /** @return Coroutine[] all that have not completed, the main one included */
    function getCoroutines(): array {}

    /** Runs $critical; a cancellation that arrives meanwhile is thrown right after it returns. */
    function protect(\Closure $critical): mixed {}

    /** As Coroutine::onFinally() of the current coroutine. */
    function onFinally(\Closure $callback): void {}

    /** As onFinally(). */
    function onExit(\Closure $callback): void {}

    /**
     * Cancels every coroutine and lets the application run down. With an exception, that is then reported as an
     * uncaught one is, and the exit status is 255.
     */
    function gracefulShutdown(?\Throwable $e = null): void {}
}
