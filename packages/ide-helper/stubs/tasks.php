<?php

// Made by scripts/gen-api from stubs/tasks.stub.php. Not to be loaded: the extension has these.

/**
 * Generator tasks: generators that a scheduler resumes in turns. They need no stack, and are suspended at their yields only.
 */

namespace Async\Task {
    /**
     * Runs tasks. A task yields
     * - nothing or null: it goes on in the next round;
     * - a generator, which it calls: the yield returns what that one returns or gives to retval();
     * - a SystemCall: this is called with the task and the scheduler;
     * - an Async\Awaitable: the yield returns its result or throws its failure when it is complete.
     *
     * For anything else the yield throws a TypeError. A task that ends with an exception which nothing awaits is reported as a
     * coroutine is, when run() has returned.
     */
    final class Scheduler
    {
        /**
         * Adds a task for a generator, and returns its id.
         * @throws \Error if the generator belongs to a task already
         */
        public function newTask(\Generator $coroutine): int {}

        /**
         * Adds a task to the end of the queue, if it is not in it, does not run and has not ended. If it waits, it leaves that
         * wait.
         * @throws \Error if it belongs to another scheduler
         */
        public function schedule(Task $task): void {}

        /**
         * Ends a task before its end: the generators that it has called are ended, the last one first, and their finally blocks
         * run. One that is running ends at its next yield. Returns whether there is a task with this id.
         */
        public function killTask(int $tid): bool {}

        /**
         * Lets a task wait until a stream can be read. For system calls, whose tasks are not queued.
         * @param resource $socket
         */
        public function waitForRead(mixed $socket, Task $task): void {}

        /**
         * Lets a task wait until a stream can be written.
         * @param resource $socket
         */
        public function waitForWrite(mixed $socket, Task $task): void {}

        /**
         * Runs tasks until none is queued and none waits. Other coroutines run between the rounds, and while all tasks wait.
         * @throws \Error if it is active already
         * @throws \Async\CancellationException if the coroutine is cancelled; the tasks stay
         */
        public function run(): void {}
    }

    /**
     * A generator, and the generators that it has called. Awaiting a task returns its result or throws its failure.
     *
     * @implements \Async\Awaitable<mixed>
     */
    final class Task implements \Async\Awaitable
    {
        /** @throws \Error if the generator belongs to a task already */
        public function __construct(int $taskId, \Generator $coroutine) {}

        /** Returns its id, which its scheduler knows it by. */
        public function getTaskId(): int {}

        /** Sets what its yield returns when it is resumed next. */
        public function setSendValue(mixed $sendValue): void {}

        /** Sets what its yield throws when it is resumed next. */
        public function setException(\Throwable $exception): void {}

        /**
         * Runs it to its next yield and returns what it yields; null when it ends or has ended.
         * @throws \Error if it is running, queued or waits
         */
        public function run(): mixed {}

        /** Returns whether it has ended. */
        public function isFinished(): bool {}
    }

    /** A call of the scheduler by a task that yields it. */
    final class SystemCall
    {
        /**
         * @param callable(Task, Scheduler): mixed $callback schedules the task again, now or later; if it throws, the yield of
         * the task does
         */
        public function __construct(callable $callback) {}

        /** Calls it. */
        public function __invoke(Task $task, Scheduler $scheduler): mixed {}
    }

    /** A stream whose operations are system calls that wait until it is ready. Make the stream non-blocking. */
    final class CoSocket
    {
        /** @param resource $socket */
        public function __construct(mixed $socket) {}

        /** Waits for a connection. The yield returns a CoSocket. */
        public function accept(): SystemCall {}

        /** Waits until there is something to read. The yield returns what fread() returns. */
        public function read(int $size): SystemCall {}

        /** Writes all of the string, as often as the stream is ready. The yield returns the number of bytes. */
        public function write(string $string): SystemCall {}

        /** Closes the stream, unless it is closed. */
        public function close(): void {}
    }

    /** What retval() returns. */
    final class CoroutineReturnValue
    {
        public function __construct(mixed $value) {}

        /** Returns the value. */
        public function getValue(): mixed {}
    }

    /** Returns a call that sends the task its id. */
    function getTaskId(): SystemCall {}

    /** Returns a call that adds a task, and sends its id. */
    function newTask(\Generator $coroutine): SystemCall {}

    /** Returns a call that kills a task. The yield throws an InvalidArgumentException if there is none with this id. */
    function killTask(int $tid): SystemCall {}

    /**
     * Returns a call that waits until a stream can be read, has come to its end or has failed.
     * @param resource $socket
     * @throws \TypeError if it is no open stream
     */
    function waitForRead(mixed $socket): SystemCall {}

    /**
     * Returns a call that waits until a stream can be written.
     * @param resource $socket
     * @throws \TypeError if it is no open stream
     */
    function waitForWrite(mixed $socket): SystemCall {}

    /** Returns what a generator yields to end with this value as its result: its finally blocks run, and its caller goes on. */
    function retval(mixed $value): CoroutineReturnValue {}

    /** Returns a generator that runs stacked generators for schedulers of user code. Tasks need none. */
    function stackedCoroutine(\Generator $gen): \Generator {}
}
