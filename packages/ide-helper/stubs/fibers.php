<?php

// Made by scripts/gen-api from stubs/fibers.stub.php. Not to be loaded: the extension has these.

/**
 * Fibers that suspend into a scheduler, beside PHP's own. Fiber gets two static methods more:
 *
 * - Fiber::create(callable $callback): Fiber returns a fiber that only a scheduler can start and resume.
 * - Fiber::suspend(callable $enqueue, FiberScheduler $scheduler): mixed suspends the fiber that runs, which may be the script
 *   itself, calls $enqueue with it, and lets the scheduler go on. It returns what the fiber is resumed with. With one argument
 *   or none it is PHP's method. Its arguments cannot be given by name.
 *
 * Where async.fiber_identity names the calling code, Fiber::getCurrent() returns in a coroutine a Fiber that stands for it, and
 * Fiber::suspend() parks the coroutine until something calls resume() or throw() on that. These do not wait for the coroutine,
 * and return null. Its start() and getReturn() throw a FiberError.
 *
 * A FiberError is thrown when a fiber of this kind is started or resumed outside of run(), or is not in a state for it.
 */

namespace {
    /**
     * What decides in which order fibers go on.
     */
    interface FiberScheduler
    {
        /**
         * Starts and resumes fibers until there is nothing more to do. It is called in a coroutine of its own when a fiber
         * suspends into the scheduler, unless it runs. When it returns or throws, the fibers that are suspended into it get
         * a FiberError or a FiberExit. At the end of the script schedulers are run to their end.
         */
        public function run(): void;
    }

    /**
     * The run() of a scheduler has thrown, which this is the end of a suspended fiber by. The previous exception is what it
     * has thrown.
     */
    final class FiberExit extends \Exception
    {
    }

    // ReflectionFiber is final for user code, so this can be read only, not run.
    if (false) {
        /** Reflects the fiber that the run() of a scheduler runs in. */
        final class ReflectionFiberScheduler extends \ReflectionFiber
        {
            /** @throws \ReflectionException if the scheduler has no fiber, because nothing has suspended into it */
            public function __construct(FiberScheduler $scheduler) {}

            /** Returns the scheduler. */
            public function getFiberScheduler(): FiberScheduler {}
        }
    }
}
