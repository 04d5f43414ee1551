<?php

// Made by scripts/gen-api from stubs/spindle.stub.php. Not to be loaded: the extension has these.

namespace Async {
    /**
     * Something that await() accepts. Implemented by Spindle's classes only.
     *
     * @template-covariant T
     */
    interface Awaitable
    {
    }

    /**
     * What happens to other coroutines when a coroutine of a scope ends, or when the Scope object is destroyed. A scope's
     * lifetime is set by its constructor, inherited from its parent, or the ini setting async.lifetime.
     */
    enum Lifetime
    {
        /**
         * Coroutines are independent of each other. When the object is destroyed, each that has not ended causes a warning
         * and continues.
         */
        case Scope;
        /** Coroutines are cancelled when the coroutine that spawned them ends, or when the object is destroyed. */
        case TopDown;
        /**
         * A coroutine is complete when those it spawned are complete. When the object is destroyed, coroutines continue,
         * and the application waits for them.
         */
        case BottomUp;
    }

    /**
     * A function call that runs concurrently with others. Created by spawn().
     *
     * @template-covariant T
     * @implements Awaitable<T>
     */
    final class Coroutine implements Awaitable
    {
        private function __construct() {}

        /** Returns a number that no other coroutine of this process has had. */
        public function getId(): int {}

        /** Returns whether it has begun to run. */
        public function isStarted(): bool {}

        /** Returns whether it is in the run queue. */
        public function isQueued(): bool {}

        /** Returns whether it is the running coroutine. */
        public function isRunning(): bool {}

        /** Returns whether it has begun, has not ended, and is not the running coroutine. */
        public function isSuspended(): bool {}

        /** Returns whether it has ended by its cancellation. */
        public function isCancelled(): bool {}

        /** Returns whether cancel() was called on it before its end. */
        public function isCancellationRequested(): bool {}

        /** Returns whether it has ended: returned, thrown, or been cancelled. */
        public function isCompleted(): bool {}

        /**
         * Returns its return value; null if it has not completed or did not return.
         *
         * @return T|null
         */
        public function getResult(): mixed {}

        /** Returns its exception or its cancellation; null if it has not completed or has returned. */
        public function getException(): ?\Throwable {}

        /**
         * Returns its stack trace, in the format of debug_backtrace(); empty unless it is running or suspended.
         * @return array<int, array<string, mixed>>
         */
        public function getTrace(int $options = DEBUG_BACKTRACE_PROVIDE_OBJECT, int $limit = 0): array {}

        /** @return array{0: string, 1: int} the file and line where it was spawned; ['', 0] for the main coroutine */
        public function getSpawnFileAndLine(): array {}

        /** Returns where it was spawned, as "FILE:LINE"; '' for the main coroutine. */
        public function getSpawnLocation(): string {}

        /** @return array{0: string, 1: int} the file and line where it was last suspended; ['', 0] if it never was */
        public function getSuspendFileAndLine(): array {}

        /** Returns where it was last suspended, as "FILE:LINE"; '' if it never was. */
        public function getSuspendLocation(): string {}

        /**
         * Returns what it waits for; empty unless it waits. Entries other than 'call' are present where they apply:
         *
         * - 'call': a libc or Async function, or 'locked handle', 'autoload', 'include', or, after the end of its body,
         *   'children'
         * - 'descriptor': the file descriptor
         * - 'coroutines': ids of the coroutines that it awaits, or that hold the handle or load the class or file; of a group
         *   or of children the first 10 that have not completed
         * - 'scope': where the awaited scope was created
         * - 'location': where it waits, as "FILE:LINE"
         * - 'since': for how many seconds it has waited
         *
         * @return array<string, mixed>
         */
        public function getAwaitingInfo(): array {}

        /**
         * Returns the coroutine that spawned it by spawn(); null if that one no longer exists, for the main coroutine, and for
         * coroutines spawned by a scope or a group.
         *
         * @return Coroutine<mixed>|null
         */
        public function getParent(): ?Coroutine {}

        /** Returns its scope; null if it has ended and its scope no longer exists. */
        public function getScope(): ?Scope {}

        /**
         * Requests its end. If it has not started, it never does. If it is suspended, it resumes with the exception; if it is
         * running, it gets the exception at its next suspension. If its body has ended and it waits for the coroutines it
         * spawned (Lifetime::BottomUp), these are cancelled. No effect if it has completed.
         */
        public function cancel(?CancellationException $cancellation = null): void {}

        /** Returns its context, as localContext() does inside of it; an empty one if it has completed. */
        public function getContext(): Context {}

        /**
         * Registers a callback for its completion, called with the coroutine; the last one registered is called first.
         *
         * @param \Closure(Coroutine<T>): mixed $callback
         */
        public function onFinally(\Closure $callback): void {}

        /**
         * As onFinally().
         *
         * @param \Closure(Coroutine<T>): mixed $callback
         */
        public function onExit(\Closure $callback): void {}

        /**
         * As onFinally().
         *
         * @param \Closure(Coroutine<T>): mixed $callback
         */
        public function finally(\Closure $callback): void {}
    }

    /**
     * The key-value store of one coroutine. Its values are released when the coroutine has ended, before its awaiters resume.
     *
     * A key is a string or an object. Objects are compared by identity, so other code cannot use the same key by accident, and
     * are held weakly: when the object is destroyed, its value is removed. If a value is a WeakReference, its object is
     * returned, or null if that is gone. The ...Local() methods exist for symmetry with Scope, where they ignore the scopes
     * above.
     */
    final class Context
    {
        private function __construct() {}

        /** Returns the value, or null if there is none. */
        public function find(string|object $key): mixed {}

        /**
         * Returns the value.
         * @throws ContextException if there is none
         */
        public function get(string|object $key): mixed {}

        /** Returns whether there is a value, which may be null. */
        public function has(string|object $key): bool {}

        /**
         * As find().
         */
        public function findLocal(string|object $key): mixed {}

        /**
         * As get().
         */
        public function getLocal(string|object $key): mixed {}

        /**
         * As has().
         */
        public function hasLocal(string|object $key): bool {}

        /**
         * Stores a value, and returns this object.
         * @throws ContextException if there is a value already and $replace is false
         */
        public function set(string|object $key, mixed $value, bool $replace = false): static {}

        /** Removes the value, if there is one, and returns this object. */
        public function unset(string|object $key): static {}
    }

    /** A key for values of a Context or a Scope. Each object is a different key, whatever its description. */
    final readonly class Key implements \Stringable
    {
        public readonly string $description;

        public function __construct(string $description = '') {}

        /** Returns the description. */
        public function __toString(): string {}
    }

    /**
     * An awaitable that completes with null after a time. Created by timeout().
     *
     * @implements Awaitable<null>
     */
    final class Timeout implements Awaitable
    {
        private function __construct() {}

        /** Returns whether the time has passed. */
        public function isCompleted(): bool {}
    }

    /**
     * A group of coroutines that are awaited and cancelled together, and whose failures are handled in one place. Coroutines
     * that a coroutine of the scope starts by spawn() belong to the same scope.
     */
    class Scope
    {
        /**
         * Creates a scope that is independent of all others. The default lifetime is that of the ini setting async.lifetime.
         *
         * @throws AsyncException if called a second time
         */
        public function __construct(?Lifetime $lifetime = null) {}

        /**
         * Creates a scope below another one, by default below the current one, with the lifetime of its parent. It is
         * cancelled and disposed of with its parent, and lookups of values continue there.
         *
         * @throws AsyncException if the parent is closed
         */
        public static function inherit(?Scope $parentScope = null): static {}

        /**
         * Queues a call as spawn() does, in this scope, and returns its coroutine. The new coroutine is not a child of the
         * calling one.
         *
         * @template R
         * @param callable(...): R $task
         * @return Coroutine<R>
         * @throws AsyncException if the scope is closed
         */
        public function spawn(callable $task, mixed ...$args): Coroutine {}

        /**
         * Waits until all coroutines of this scope and of those below it have ended.
         *
         * @throws AwaitCancelledException if $cancellation completes first
         * @throws CancellationException if the scope is or gets cancelled
         * @throws \Throwable a failure of one of its coroutines that was neither awaited nor handled
         * @throws AsyncException if called within the scope or one below it, and always on the global scope
         */
        public function awaitCompletion(Awaitable $cancellation): void {}

        /**
         * Waits, after cancel(), until all coroutines have ended. $errorHandler is called as (Throwable, Scope) for each
         * failure meanwhile; without it the first failure is thrown when all have ended. getErrors() returns all of them.
         *
         * @param null|callable(\Throwable, Scope): mixed $errorHandler
         * @param Awaitable<mixed>|null $cancellation
         * @throws AsyncException if the scope has not been cancelled, and as awaitCompletion()
         * @throws AwaitCancelledException if $cancellation completes first
         */
        public function awaitAfterCancellation(?callable $errorHandler = null, ?Awaitable $cancellation = null): void {}

        /**
         * Waits for the coroutines started by this scope's own spawn(), not for those they spawned.
         *
         * @throws \Throwable the first failure of one of them
         * @throws AsyncException as awaitCompletion()
         */
        public function awaitDirectChildren(): void {}

        /**
         * Closes the scope, and cancels the coroutines of the scopes below it, then its own. A second call has no effect; if it
         * passes an exception, that is ignored with a warning.
         *
         * @throws AsyncException on the global scope; see gracefulShutdown()
         */
        public function cancel(?CancellationException $cancellation = null): void {}

        /**
         * Emits a warning for each coroutine that has not ended, and cancels the scope; scopes below come first.
         *
         * @throws AsyncException on the global scope
         */
        public function dispose(): void {}

        /**
         * Closes the scope, and emits a warning for each coroutine that has not ended. These continue, but do not keep the
         * application alive.
         *
         * @throws AsyncException on the global scope
         */
        public function disposeSafely(): void {}

        /**
         * Closes the scope, and emits a warning for each coroutine that has not ended. These continue, and are cancelled after
         * $ms milliseconds.
         *
         * @throws \ValueError if $ms is not between 1 and 599999
         * @throws AsyncException on the global scope
         */
        public function disposeAfterTimeout(int $ms): void {}

        /**
         * Sets a handler for failures of this scope's coroutines that are not awaited. It is called as
         * (Scope, Coroutine, Throwable), or as (Throwable) if it takes one parameter, and the scope continues. An exception of
         * the handler propagates to the parent.
         *
         * @throws AsyncException on the global scope
         */
        public function setExceptionHandler(callable $handler): void {}

        /**
         * Sets a handler for failures that scopes below this one have not handled; otherwise as setExceptionHandler().
         *
         * @throws AsyncException on the global scope
         */
        public function setChildScopeExceptionHandler(callable $handler): void {}

        /**
         * Returns the failures in this scope and those below it that were neither awaited nor handled, in their order. The first
         * one is thrown to awaiters of the scope; later ones are available here only. A failure that has been neither delivered
         * nor asked for when the scope finishes causes a warning.
         * @return \Throwable[]
         */
        public function getErrors(): array {}

        /**
         * Registers a callback for the end of the scope's last coroutine, called with the scope; the last one registered is
         * called first.
         *
         * @param \Closure(Scope): mixed $callback
         */
        public function onFinally(\Closure $callback): void {}

        /**
         * As onFinally().
         *
         * @param \Closure(Scope): mixed $callback
         */
        public function onExit(\Closure $callback): void {}

        /**
         * As onFinally().
         *
         * @param \Closure(Scope): mixed $callback
         */
        public function finally(\Closure $callback): void {}

        /** Returns the value for $key of this scope or of the nearest scope above that has one; null if there is none. */
        public function find(string|object $key): mixed {}

        /**
         * Returns the value for $key of this scope or of the nearest scope above that has one.
         * @throws ContextException if there is none
         */
        public function get(string|object $key): mixed {}

        /** Returns whether there is a value, which may be null, in this scope or a scope above. */
        public function has(string|object $key): bool {}

        /** As find(), in this scope only. */
        public function findLocal(string|object $key): mixed {}

        /**
         * As get(), in this scope only.
         * @throws ContextException if there is none
         */
        public function getLocal(string|object $key): mixed {}

        /** As has(), in this scope only. */
        public function hasLocal(string|object $key): bool {}

        /**
         * Stores a value in the scope until it completes or is disposed of, and returns the scope. A key that is an object is
         * held weakly: when it is destroyed, its value is removed. If the value is a WeakReference, lookups return its object,
         * or null if that is gone.
         * @throws ContextException if there is a value in this scope already and $replace is false
         */
        public function set(string|object $key, mixed $value, bool $replace = false): static {}

        /** Removes the value from this scope, if there is one, and returns the scope. */
        public function unset(string|object $key): static {}

        /** Returns the scope directly above this one, for that of a call such as `group()` the scope in which the call waits; null if it is independent of all others. */
        public function getParentScope(): ?Scope {}

        /** @return Scope[] the scopes directly below this one, without those of calls such as `group()` */
        public function getChildScopes(): array {}

        /** @return Coroutine<mixed>[] its coroutines that have not ended, without those of scopes below it */
        public function getCoroutines(): array {}

        /** Returns whether all coroutines of it and of the scopes below it have ended; true if there were none. */
        public function isFinished(): bool {}

        /** Returns whether it was cancelled or disposed of, and so accepts no new coroutines. */
        public function isClosed(): bool {}

        /** Returns whether it was cancelled, for any reason. */
        public function isCancelled(): bool {}

        /** Returns whether it was disposed of. */
        public function isDisposed(): bool {}
    }

    /**
     * A scope with a limited life. It can be awaited in every lifetime.
     *
     * @implements Awaitable<null>
     */
    class BoundedScope extends Scope implements Awaitable
    {
        /**
         * Cancels this scope after $milliseconds, and returns it.
         *
         * @throws \ValueError if $milliseconds is negative
         * @throws AsyncException if called a second time
         */
        public function withTimeout(int $milliseconds): static {}

        /**
         * As spawn(); when that coroutine ends, the scope is cancelled. Replaces a constraint set before.
         *
         * @template R
         * @param callable(...): R $coroutine
         * @return Coroutine<R>
         * @throws AsyncException if the scope is closed
         */
        public function spawnAndBound(callable $coroutine, mixed ...$args): Coroutine {}

        /**
         * Cancels this scope when $constraint completes, and returns it. Replaces a constraint set before, but not the timeout.
         *
         * @throws \TypeError if $constraint is not an Awaitable
         * @throws AsyncException if $constraint is this scope
         */
        public function boundedBy(mixed $constraint): static {}

        /**
         * Returns the bounds: 'timeout' (milliseconds, or null), 'constraint' (set by boundedBy() or spawnAndBound(), or null),
         * and 'reached', the bound that has ended the scope ('timeout', 'constraint' or null).
         * @return array<string, mixed>
         */
        public function getBoundsInfo(): array {}
    }

    /**
     * Collects the results of coroutines. Awaiting it returns all results in the order of their spawns. The first failure
     * cancels the other coroutines, and is thrown when they have ended.
     *
     * @template T
     * @implements Awaitable<array<int, T>>
     */
    final class CoroutineGroup implements Awaitable
    {
        /** $scope: where its coroutines run; by default the scope that is current when they are spawned. */
        public function __construct(?Scope $scope = null) {}

        /**
         * Queues a call as spawn() does, adds its coroutine to the group and returns it.
         *
         * @param callable(...): T $task
         * @return Coroutine<T>
         * @throws AsyncException if the scope is closed
         */
        public function spawn(callable $task, mixed ...$args): Coroutine {}

        /**
         * Adds a coroutine that was spawned elsewhere.
         *
         * @param Coroutine<T> $coroutine
         */
        public function add(Coroutine $coroutine): void {}

        /** Cancels the coroutines that have not ended. */
        public function cancel(?CancellationException $cancellation = null): void {}

        /** Emits a warning for each coroutine that has not ended, and cancels it. */
        public function dispose(): void {}

        /** @return array<int, T> the return values so far, by the position of their coroutines */
        public function getResults(): array {}

        /** @return array<int, \Throwable> the failures so far, by the position of their coroutines */
        public function getErrors(): array {}
    }

    /**
     * How something awaitable has ended: created by awaitAllSettled().
     *
     * @template-covariant T
     */
    final readonly class Settled
    {
        /** Whether it has a result. */
        public readonly bool $ok;

        /**
         * The result; null after a failure.
         *
         * @var T|null
         */
        public readonly mixed $value;

        /** The failure; null if there is none. */
        public readonly ?\Throwable $error;

        private function __construct() {}

        /**
         * Returns the result, or throws the failure.
         *
         * @return T
         */
        public function unwrap(): mixed {}
    }

    /** Base class of Spindle's exceptions: a call is not possible in the present state. */
    class AsyncException extends \Exception
    {
    }

    /**
     * Thrown if the cancellation token of a wait completes first. If the token has failed, its exception is the previous one;
     * if it is a timeout(), a TimeoutException is thrown.
     */
    class AwaitCancelledException extends AsyncException
    {
    }

    /**
     * Thrown by a wait whose token, a timeout(), completes first. It is also the previous exception of what cancels the coroutines
     * of a BoundedScope, or a handler of a server, when their time limit has passed.
     */
    class TimeoutException extends AwaitCancelledException
    {
    }

    /** Thrown if there is no value for a key, or if there is one already. */
    class ContextException extends AsyncException
    {
    }

    /** Thrown if a channel is closed. The reason that it was closed with is the previous exception. */
    class ChannelException extends AsyncException
    {
    }

    /** Thrown where a cancelled coroutine is suspended. Aliases: CancellationError, AsyncCancellation. */
    class CancellationException extends \Exception
    {
    }

    /** Several exceptions of callbacks, combined. */
    final class CompositeException extends \Exception
    {
        /** @return \Throwable[] */
        public function getExceptions(): array {}
    }

    /** Thrown in suspended coroutines if none is ready and no event can wake any. */
    class DeadlockError extends \Error
    {
    }

    /**
     * Queues a call and returns its coroutine. It starts in a later turn of the scheduler, never inside spawn().
     * Arguments are passed by value; named and spread arguments are supported.
     *
     * @template R
     * @param callable(...): R $task
     * @return Coroutine<R>
     * @throws \TypeError if $task is not callable
     * @throws AsyncException if the current scope was cancelled
     */
    function spawn(callable $task, mixed ...$args): Coroutine {}

    /**
     * Calls $block in a new scope below the current one, waits until it and all coroutines that were spawned in the scope have
     * ended, and returns its result. The first failure that is not awaited cancels the rest, and is thrown when they have ended;
     * Scope::getErrors() has the others. If the caller is cancelled, the scope is, and the call returns when all have ended.
     *
     * $block has a coroutine of its own, which acts as that of the caller: it has the caller's context, locks and connections.
     *
     * @template R
     * @param callable(...): R $block
     * @return R
     * @throws AsyncException if the current scope was cancelled, and where the engine allows no switch
     */
    function group(callable $block, mixed ...$args): mixed {}

    /**
     * As group(), with a limit of time: when it passes, all that is in the group is cancelled.
     *
     * @template R
     * @param callable(...): R $block
     * @return R
     * @throws TimeoutException if the time has passed, when all have ended; a failure on the way is its previous exception
     * @throws \ValueError if $milliseconds is negative
     */
    function withTimeout(int $milliseconds, callable $block, mixed ...$args): mixed {}

    /**
     * Waits for an awaitable. Returns its result or throws its failure, which is the same exception object for all awaiters.
     * A scope gives null when its coroutines and those of the scopes below it have ended, also if it was cancelled.
     *
     * @template T
     * @param Awaitable<T>|Scope $awaitable
     * @param Awaitable<mixed>|null $cancellation
     * @return ($awaitable is Awaitable ? T : null)
     * @throws AwaitCancelledException if $cancellation completes first; the awaited coroutines continue
     * @throws AsyncException if a coroutine awaits itself or a scope that it is in, and if a scope of Lifetime::Scope that is
     *                        no BoundedScope is awaited; if $awaitable has not completed, also after the end of the script
     *                        and where the engine allows no switch
     */
    function await(Awaitable|Scope $awaitable, ?Awaitable $cancellation = null): mixed {}

    /**
     * Waits for the coroutines that the running one has spawned by spawn(), not for those they spawned.
     *
     * @param Awaitable<mixed>|null $cancellation
     * @throws \Throwable the first failure of one of them
     * @throws AwaitCancelledException if $cancellation completes first; the coroutines continue
     */
    function awaitChildren(?Awaitable $cancellation = null): void {}

    /**
     * Returns what the runtime counts, by names as Prometheus has them: `…_total` only grows, `…_seconds` is a time, and all others are as of now.
     * See docs/metrics.md. Reading it costs little, and nothing is counted for it alone.
     *
     * @return array<string, int|float>
     */
    function metrics(): array {}

    /** Returns the scope of the running coroutine. */
    function currentScope(): Scope {}

    /** Returns the scope of the script and of all that it spawns; it is never closed. */
    function globalScope(): Scope {}

    /** Yields: moves the running coroutine to the end of the run queue. Returns at once if no other coroutine is ready. */
    function suspend(): void {}

    /**
     * Suspends the running coroutine for $ms milliseconds.
     *
     * @throws \ValueError if $ms is negative
     */
    function delay(int $ms): void {}

    /**
     * Returns an awaitable that completes with null after $ms milliseconds. The timer is cancelled when the object is destroyed.
     *
     * @throws \ValueError if $ms is negative
     */
    function timeout(int $ms): Timeout {}

    /**
     * Returns the running coroutine.
     *
     * @return Coroutine<mixed>
     */
    function currentCoroutine(): Coroutine {}

    /** Returns the key-value store of the running coroutine, always the same object. Not inherited by spawned coroutines. */
    function localContext(): Context {}

    /** @return Coroutine<mixed>[] all that have not completed, including the main coroutine */
    function getCoroutines(): array {}

    /**
     * Prints all scopes and coroutines: their hierarchy, where each was spawned, and what it waits for. The format is not
     * meant for parsing. See also the ini setting async.dump_signal.
     */
    function dump(): void {}

    /**
     * Calls $critical and returns its result. A cancellation that arrives meanwhile is thrown right after it returns.
     *
     * @template R
     * @param \Closure(): R $critical
     * @return R
     */
    function protect(\Closure $critical): mixed {}

    /**
     * Calls Coroutine::onFinally() of the running coroutine.
     *
     * @param \Closure(Coroutine<mixed>): mixed $callback
     */
    function onFinally(\Closure $callback): void {}

    /**
     * As onFinally().
     *
     * @param \Closure(Coroutine<mixed>): mixed $callback
     */
    function onExit(\Closure $callback): void {}

    /**
     * Cancels all coroutines of the global scope and of the scopes below it; the application ends when they have. With an
     * exception, that is reported as an uncaught one, and the exit status is 255. A second call cancels all coroutines that are
     * left, by force: one that catches this cancellation too and suspends again is abandoned.
     */
    function gracefulShutdown(?\Throwable $e = null): void {}
}

/** Targets of the operators' rewriting for which namespace Async has no function: see `spindle transpile`. */
namespace Async\Syntax {
    /**
     * Returned by call(). Calling it creates a coroutine of a call with these arguments; they are passed by reference where
     * the function takes references.
     */
    final class Call
    {
        private function __construct() {}

        /**
         * @return \Async\Coroutine<mixed>
         * @throws \Async\AsyncException if the current scope is closed
         */
        public function __invoke(mixed ...$args): \Async\Coroutine {}
    }

    /**
     * `spawn f(1, $x)` is `call(f(...))(1, $x)`. A closure cannot be created from a nullsafe callee, so `spawn $a?->f(1)` is
     * `call($a, fn($o) => $o->f(...))?->__invoke(1)`: returns null if $callee is null, otherwise the call of the closure that
     * $of returns for it.
     *
     * @param mixed $callee a closure, or an argument for $of
     * @return ($callee is null ? null : Call)
     * @throws \TypeError if there is no closure
     */
    function call(mixed $callee, ?\Closure $of = null): ?Call {}
}
