<?php

/**
 * @generate-class-entries
 */

namespace Async {
    /** What can be awaited. Only Spindle's own classes implement it. */
    interface Awaitable
    {
    }

    /**
     * How long coroutines live: what their end, and the end of the Scope object, means to others. A scope has one, from
     * its constructor, from its parent, or from the ini setting async.lifetime.
     */
    enum Lifetime
    {
        /** They live as long as they need. When the object dies those that have not ended are warned of and run on. */
        case Scope;
        /** A coroutine does not outlive the one that spawned it, nor the object: it is cancelled. */
        case TopDown;
        /** A coroutine is complete when those it spawned are. When the object dies they run on, and are waited for. */
        case BottomUp;
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

        /** What it returned; null before it has completed and when it did not return. */
        public function getResult(): mixed {}

        /** What it threw, or its cancellation; null before it has completed and when it returned. */
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
         * What it waits for: 'call' (a libc or Async function, or 'busy handle', 'autoload', 'include', or, after its
         * end, 'children'), and where it
         * applies 'descriptor', 'coroutines' (ids of those it awaits, who have the handle, or load the class or file; of a
         * group or of children the first 10 that have not completed), 'scope' (where the scope was created that it
         * awaits), 'location' ("FILE:LINE" of the wait), 'since' (seconds it has waited). Empty unless it waits.
         * @return array<string, mixed>
         */
        public function getAwaitingInfo(): array {}

        /**
         * The coroutine that spawned it by spawn(), as long as that one is alive; null for the main coroutine, and for
         * those that a scope or a group has spawned.
         */
        public function getParent(): ?Coroutine {}

        /** The scope it belongs to; null when it has ended and its scope is gone. */
        public function getScope(): ?Scope {}

        /**
         * Asks for its end: it never starts, or goes on with this exception where it is suspended, or, when it
         * runs, gets it at its next suspension point. Nothing happens when it has completed. When its body has ended
         * and it waits for those it spawned (Lifetime::BottomUp), they are cancelled.
         */
        public function cancel(?CancellationException $cancellation = null): void {}

        /** Its own values, what localContext() is in it; empty when it has completed. */
        public function getContext(): Context {}

        /** Calls $callback with the coroutine when it has completed; the last registered first. */
        public function onFinally(\Closure $callback): void {}

        /** @implementation-alias Async\Coroutine::onFinally */
        public function onExit(\Closure $callback): void {}
    }

    /**
     * Values kept for one coroutine, by keys. When the coroutine has ended, they are let go before its awaiters are woken.
     *
     * A key is a string or an object, which counts by identity: no other code can meet it by chance. An object is held
     * weakly: when it dies, its value goes too. A WeakReference as a value is followed: what is found is its object, or
     * null when that is gone. The ...Local() methods are those of a Scope, where they leave out the scopes above.
     */
    final class Context
    {
        private function __construct() {}

        /** The value, or null when there is none. */
        public function find(string|object $key): mixed {}

        /**
         * The value.
         * @throws ContextException when there is none
         */
        public function get(string|object $key): mixed {}

        /** Is there a value? Also a null is one. */
        public function has(string|object $key): bool {}

        /** @implementation-alias Async\Context::find */
        public function findLocal(string|object $key): mixed {}

        /** @implementation-alias Async\Context::get */
        public function getLocal(string|object $key): mixed {}

        /** @implementation-alias Async\Context::has */
        public function hasLocal(string|object $key): bool {}

        /**
         * Keeps a value.
         * @throws ContextException when there is one already and $replace is false
         */
        public function set(string|object $key, mixed $value, bool $replace = false): static {}

        /** Lets a value go, if there is one. */
        public function unset(string|object $key): static {}
    }

    /** A key for values of a Context: each is its own, whatever its description. */
    final readonly class Key implements \Stringable
    {
        public readonly string $description;

        public function __construct(string $description = '') {}

        /** The description. */
        public function __toString(): string {}
    }

    /** What timeout() returns: completes with null after its time. */
    final class Timeout implements Awaitable
    {
        private function __construct() {}

        /** Has the time passed? */
        public function isCompleted(): bool {}
    }

    /**
     * Coroutines that belong together: they are cancelled together, can be waited for together, and their failures have
     * one place to go. What a coroutine of a scope spawns by spawn() is in the same scope.
     */
    class Scope
    {
        /** A scope that is independent of all others. $lifetime: by default that of the ini setting async.lifetime. */
        public function __construct(?Lifetime $lifetime = null) {}

        /**
         * A scope below another one, by default below the current one, with its lifetime. It is cancelled and disposed
         * of with it, and its values are found in it.
         *
         * @throws AsyncException when the parent is closed
         */
        public static function inherit(?Scope $parentScope = null): static {}

        /**
         * As spawn(), in this scope. The new coroutine is not a child of the one that calls.
         *
         * @throws AsyncException when the scope is closed
         */
        public function spawn(callable $task, mixed ...$args): Coroutine {}

        /**
         * Waits until all coroutines of this scope and of those below it have ended.
         *
         * @throws AwaitCancelledException when $cancellation completes first
         * @throws CancellationException when the scope is or gets cancelled
         * @throws \Throwable the failure of one of its coroutines that nobody else has taken
         * @throws AsyncException from within the scope or one below it, and always on the global scope
         */
        public function awaitCompletion(Awaitable $cancellation): void {}

        /**
         * Waits, after cancel(), until all coroutines have ended. $errorHandler is called as (Throwable, Scope) for each
         * failure on the way; without it the first one is thrown when all have ended. getErrors() has them all.
         *
         * @throws AsyncException when the scope has not been cancelled, and as awaitCompletion()
         * @throws AwaitCancelledException when $cancellation completes first
         */
        public function awaitAfterCancellation(?callable $errorHandler = null, ?Awaitable $cancellation = null): void {}

        /**
         * Waits for the coroutines that this scope's own spawn() has started, and not for what they spawned.
         *
         * @throws \Throwable the first failure of one of them
         * @throws AsyncException as awaitCompletion()
         */
        public function awaitDirectChildren(): void {}

        /**
         * Closes the scope and cancels those below it, then its own coroutines. A second time nothing happens, and an
         * exception that is given then is ignored with a warning.
         *
         * @throws AsyncException on the global scope; see gracefulShutdown()
         */
        public function cancel(?CancellationException $cancellation = null): void {}

        /** Warns of each coroutine that has not ended, and cancels the scope. Those below it come first. */
        public function dispose(): void {}

        /** Warns of each coroutine that has not ended. They run on, but do not keep the application alive. */
        public function disposeSafely(): void {}

        /**
         * Warns of each coroutine that has not ended. They run on, and are cancelled after $ms milliseconds.
         *
         * @throws \ValueError when $ms is not between 1 and 599999
         */
        public function disposeAfterTimeout(int $ms): void {}

        /**
         * $handler gets the failures of this scope's coroutines that nobody awaits, as (Scope, Coroutine, Throwable), or
         * as (Throwable) if it takes one parameter. The scope goes on then. What it throws goes to the parent.
         *
         * @throws AsyncException on the global scope
         */
        public function setExceptionHandler(callable $handler): void {}

        /**
         * The same for failures that scopes below this one have not handled.
         *
         * @throws AsyncException on the global scope
         */
        public function setChildScopeExceptionHandler(callable $handler): void {}

        /**
         * What has failed in this scope and the ones below it without being awaited or handled, in the order in which it
         * arose. Who waits for the scope is thrown the first one; later ones are found here. One that nobody has been given
         * or asked for when the scope finishes is a warning.
         * @return \Throwable[]
         */
        public function getErrors(): array {}

        /** Calls $callback with the scope when its last coroutine has ended; the last registered first. */
        public function onFinally(\Closure $callback): void {}

        /** @implementation-alias Async\Scope::onFinally */
        public function onExit(\Closure $callback): void {}

        /** The value that is kept for $key here or in the nearest scope above; null when there is none. */
        public function find(string|object $key): mixed {}

        /**
         * The value that is kept for $key here or in the nearest scope above.
         * @throws ContextException when there is none
         */
        public function get(string|object $key): mixed {}

        /** Is there a value here or in a scope above? Also a null is one. */
        public function has(string|object $key): bool {}

        /** As find(), in this scope alone. */
        public function findLocal(string|object $key): mixed {}

        /**
         * As get(), in this scope alone.
         * @throws ContextException when there is none
         */
        public function getLocal(string|object $key): mixed {}

        /** As has(), in this scope alone. */
        public function hasLocal(string|object $key): bool {}

        /**
         * Keeps a value for the scope, until it completes or is disposed of. An object as the key is held weakly: when
         * it dies the value goes. A WeakReference is kept as what it refers to.
         * @throws ContextException when there is one in this scope already and $replace is false
         */
        public function set(string|object $key, mixed $value, bool $replace = false): static {}

        /** Lets a value of this scope go, if there is one. */
        public function unset(string|object $key): static {}

        /** @return Scope[] the scopes directly below this one */
        public function getChildScopes(): array {}

        /** @return Coroutine[] its coroutines that have not ended; not those of scopes below it */
        public function getCoroutines(): array {}

        /** Does no coroutine of it, or of a scope below it, run or wait? */
        public function isFinished(): bool {}

        /** Was it cancelled or disposed of? It takes no new coroutines then. */
        public function isClosed(): bool {}

        public function isCancelled(): bool {}

        public function isDisposed(): bool {}
    }

    /** A scope whose life is limited. It can be awaited, whatever its lifetime. */
    class BoundedScope extends Scope implements Awaitable
    {
        /**
         * Cancels this scope after $milliseconds.
         *
         * @throws \ValueError when it is negative
         * @throws AsyncException when called a second time
         */
        public function withTimeout(int $milliseconds): static {}

        /** As spawn(); when that coroutine ends, the scope is cancelled. */
        public function spawnAndBound(callable $coroutine, mixed ...$args): Coroutine {}

        /**
         * Cancels this scope when $constraint completes. The last one set holds, beside the timeout.
         *
         * @throws \TypeError when it cannot be awaited
         */
        public function boundedBy(mixed $constraint): static {}

        /**
         * 'timeout' (milliseconds or null), 'constraint' (what boundedBy() or spawnAndBound() has set, or null),
         * 'reached' ('timeout', 'constraint' or null).
         * @return array<string, mixed>
         */
        public function getBoundsInfo(): array {}
    }

    /**
     * Coroutines whose results are wanted together. Awaited, it gives all results in the order of their spawns, or
     * cancels the rest at the first failure, waits for their end, and throws it.
     */
    final class CoroutineGroup implements Awaitable
    {
        /** $scope: where its coroutines run; by default the scope that is current when they are spawned. */
        public function __construct(?Scope $scope = null) {}

        /** @throws AsyncException when the scope is closed */
        public function spawn(callable $task, mixed ...$args): Coroutine {}

        /** Adds a coroutine that somebody else has spawned. */
        public function add(Coroutine $coroutine): void {}

        /** Cancels those that have not ended. */
        public function cancel(?CancellationException $cancellation = null): void {}

        /** Warns of each that has not ended, and cancels them. */
        public function dispose(): void {}

        /** @return array<int, mixed> of those that have returned, by their place in the order of their spawns */
        public function getResults(): array {}

        /** @return array<int, \Throwable> of those that have thrown, by their place in the order of their spawns */
        public function getErrors(): array {}
    }

    class AsyncException extends \Exception
    {
    }

    /**
     * The cancellation token of an await() completed first; its own exception, if it failed, is the previous one. When it
     * is a timeout(), that is a TimeoutException.
     */
    class AwaitCancelledException extends AsyncException
    {
    }

    /** What a timeout() has ended a wait with: the previous one of its AwaitCancelledException. */
    class TimeoutException extends AsyncException
    {
    }

    /** There is no value for a key, or there is one already. */
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
     * A scope gives null when its coroutines and those of the scopes below it have ended, also when it was cancelled.
     *
     * @throws AwaitCancelledException when $cancellation completes first; the awaited work goes on
     * @throws AsyncException when a coroutine awaits itself or a scope that it is in, and when a scope of
     *                        Lifetime::Scope is awaited that is no BoundedScope
     */
    function await(Awaitable|Scope $awaitable, ?Awaitable $cancellation = null): mixed {}

    /**
     * Waits for the coroutines that the current one has spawned by spawn(), and not for what those spawned.
     *
     * @throws \Throwable the first failure of one of them
     * @throws AwaitCancelledException when $cancellation completes first; they go on
     */
    function awaitChildren(?Awaitable $cancellation = null): void {}

    /** The scope of the current coroutine. */
    function currentScope(): Scope {}

    /** The scope of the script, and of all that it spawns; it is never closed. */
    function globalScope(): Scope {}

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

    /** The current coroutine's own values, always the same object. Never inherited by what it spawns. */
    function localContext(): Context {}

    /** @return Coroutine[] all that have not completed, the main one included */
    function getCoroutines(): array {}

    /**
     * Prints all scopes and coroutines that are there: who belongs where, who was spawned where, and what each waits
     * for. For people; see async.dump_signal for a program that cannot be asked.
     */
    function dump(): void {}

    /** Runs $critical; a cancellation that arrives meanwhile is thrown right after it returns. */
    function protect(\Closure $critical): mixed {}

    /** As Coroutine::onFinally() of the current coroutine. */
    function onFinally(\Closure $callback): void {}

    /** As onFinally(). */
    function onExit(\Closure $callback): void {}

    /**
     * Cancels every coroutine of the global scope and of those below it, and lets the application run down. With an
     * exception, that is reported as an uncaught one is, and the exit status is 255. Called again, it cancels everybody by
     * force: who swallows that too is abandoned.
     */
    function gracefulShutdown(?\Throwable $e = null): void {}
}

/** What the operators become that the functions of the namespace Async cannot say: see `spindle transpile`. */
namespace Async\Syntax {
    /**
     * What call() gives: called, it makes a coroutine of a call with these arguments, and takes those by reference that
     * the function takes by reference.
     */
    final class Call
    {
        private function __construct() {}

        /** @throws \Async\AsyncException when the current scope is closed */
        public function __invoke(mixed &...$args): \Async\Coroutine {}
    }

    /**
     * `spawn f(1, $x)` is `call(f(...))(1, $x)`. A closure cannot be made of a nullsafe callee, so `spawn $a?->f(1)` is
     * `call($a, fn($o) => $o->f(...))?->__invoke(1)`: null when $callee is null, and else what $of makes of it.
     *
     * @param mixed $callee a closure, or what $of makes one of
     * @throws \TypeError when it is none
     */
    function call(mixed $callee, \Closure $of = UNKNOWN): ?Call {}
}
