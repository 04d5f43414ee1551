<?php

declare(strict_types=1);

namespace Spindle\Laravel\Queue;

use Async\{CancellationException, Coroutine, TimeoutException};
use Illuminate\Contracts\Console\Kernel;
use Illuminate\Contracts\Queue\Job;
use Illuminate\Queue\Events\JobTimedOut;
use Illuminate\Queue\Jobs\Job as QueueJob;
use Illuminate\Queue\WorkerOptions;
use Symfony\Component\Console\Input\ArgvInput;
use Symfony\Component\Console\Output\ConsoleOutput;
use function Async\{await, spawn, timeout};

/** Laravel's worker as one of a group: it takes no signals, and sees from the group what they mean. */
final class Worker extends \Illuminate\Queue\Worker
{
    private Group $group;
    private Course $course;
    private bool $hasAskedForRestart = false;
    /** The job that is being cancelled: what its code makes of that is not what becomes of it. */
    private ?Job $late = null;

    /** As what Laravel has for true and false in a job. */
    private const LATE = 1;

    /** After how many milliseconds a job that goes on is cancelled again. */
    private const CANCELLED_AGAIN = 5000;

    /** Boots the application, and runs its `queue:work` with these arguments. @return int its status */
    public static function run(string $folder, array $arguments, Group $group, Course $course): int
    {
        $app = require "$folder/bootstrap/app.php";
        $app->extend('queue.worker', static fn (\Illuminate\Queue\Worker $worker) => self::of($worker, $group, $course));
        $kernel = $app->make(Kernel::class);
        $input = new ArgvInput(['artisan', 'queue:work', ...$arguments]);
        $status = $kernel->handle($input, new ConsoleOutput());
        $kernel->terminate($input, $status);
        return $status;
    }

    private static function of(\Illuminate\Queue\Worker $worker, Group $group, Course $course): self
    {
        $own = new self($worker->manager, $worker->events, $worker->exceptions, $worker->isDownForMaintenance, $worker->resetScope);
        [$own->group, $own->course] = [$group, $course];
        return $own;
    }

    public function daemon($connectionName, $queue, WorkerOptions $options)
    {
        return $this->observed(fn () => parent::daemon($connectionName, $queue, $options));
    }

    public function runNextJob($connectionName, $queue, WorkerOptions $options)
    {
        return $this->observed(fn () => parent::runNextJob($connectionName, $queue, $options));
    }

    /**
     * Handles a job with its time limit: as there is no alarm for each worker, the job is cancelled where it waits. Then, or if it
     * ends by exit, the application may be in the middle of something, so this worker ends, and another one takes its place.
     */
    public function process($connectionName, $job, WorkerOptions $options)
    {
        $seconds = (int) $this->timeoutForJob($job, $options);
        // What the job throws is returned: what is thrown then is that it has not returned.
        $running = spawn(function () use ($connectionName, $job, $options): ?\Throwable {
            try {
                parent::process($connectionName, $job, $options);
                return null;
            } catch (\Throwable $thrown) {
                return $thrown;
            }
        });
        try {
            $isLate = $seconds > 0 && !self::ends($running, 1000 * $seconds);
            $isLate && $this->cancel($running, $job, $seconds);
            $thrown = await($running);
        } catch (\Throwable $ended) {
            $this->replace("{$job->resolveName()} has ended its worker, which is started again: the job is tried again when retry_after has passed");
            throw $ended;
        }
        if ($isLate && !$job->isDeleted() && !$job->isReleased() && !$job->hasFailed()) {
            $late = new CancellationException("{$job->resolveName()} has timed out after $seconds seconds");
            $this->markJobAsFailedIfItShouldFailOnTimeout($connectionName, $job, $late);
            class_exists(JobTimedOut::class) && $this->events->dispatch(new JobTimedOut($connectionName, $job, $seconds));
            parent::handleJobException($connectionName, $job, $options, $late);
        }
        return $thrown ? throw $thrown : null;
    }

    /**
     * Cancels a job, and waits until it has ended: what becomes of it, and what is called then, must find nothing of it running. If
     * its code catches this and goes on, it has not been handled: for Laravel it has been released, so that it is not deleted then.
     */
    private function cancel(Coroutine $running, Job $job, int $seconds): void
    {
        $this->late = $job;
        $name = $job->resolveName();
        $marked = $job instanceof QueueJob && !$job->isDeletedOrReleased() && !$job->hasFailed();
        $marked && self::setReleased($job, self::LATE);
        $this->replace("$name has taken longer than $seconds seconds: it is cancelled, and its worker is started again");
        try {
            $running->cancel(new CancellationException("$name has timed out after $seconds seconds"));
            while (!self::ends($running, self::CANCELLED_AGAIN)) {
                $this->group->say("$name goes on although it was cancelled, and is cancelled again");
                $running->cancel(new CancellationException("$name has timed out after $seconds seconds"));
            }
        } finally {
            $this->late = null;
            // Its code may have released it, which counts.
            $marked && $job->isReleased() === self::LATE && self::setReleased($job, false);
        }
    }

    /** Whether a coroutine ends within this time. */
    private static function ends(Coroutine $running, int $milliseconds): bool
    {
        try {
            await($running, timeout($milliseconds));
        } catch (TimeoutException) {
        }
        return $running->isCompleted();
    }

    private static function setReleased(QueueJob $job, bool|int $is): void
    {
        \Closure::bind(static fn () => $job->released = $is, null, QueueJob::class)();
    }

    protected function raiseAfterJobEvent($connectionName, $job)
    {
        $job === $this->late || parent::raiseAfterJobEvent($connectionName, $job);
    }

    protected function handleJobException($connectionName, $job, WorkerOptions $options, \Throwable $e)
    {
        $job === $this->late ? throw $e : parent::handleJobException($connectionName, $job, $options, $e);
    }

    public function sleep($seconds)
    {
        try {
            await($this->group->quitting, timeout((int) (1000 * $seconds)));
        } catch (TimeoutException) {
        }
        $this->shouldQuit = $this->shouldQuit || $this->group->quits;
    }

    protected function supportsAsyncSignals()
    {
        return false;
    }

    protected function daemonShouldRun(WorkerOptions $options, $connectionName, $queue)
    {
        $this->paused = $this->group->pauses;
        return parent::daemonShouldRun($options, $connectionName, $queue);
    }

    protected function getNextJob($connection, $queue)
    {
        if ($this->shouldQuit || !$this->group->mayTake()) {
            $this->shouldQuit = true;
            return null;
        }
        $job = null;
        try {
            return $job = parent::getNextJob($connection, $queue);
        } finally {
            $job ?? $this->group->giveBack();
        }
    }

    protected function getTimestampOfLastQueueRestart()
    {
        $now = parent::getTimestampOfLastQueueRestart();
        if ($this->hasAskedForRestart) {
            return $now;
        }
        $this->hasAskedForRestart = true;
        return ($this->group->restarted ??= [$now])[0];
    }

    protected function stopWorkerIfLostConnection($e)
    {
        if ($this->causedByLostConnection($e)) {
            $this->replace('a worker has lost its connection, and is started again');
        }
    }

    private function replace(string $why): void
    {
        $this->course->why = $why;
        $this->shouldQuit = true;
    }

    private function observed(\Closure $work): mixed
    {
        $this->course->isReady = true;
        $this->group->isReady();
        $status = $work();
        $this->course->isOver = $this->course->why === null;
        return $status;
    }
}
