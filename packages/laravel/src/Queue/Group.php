<?php

declare(strict_types=1);

namespace Spindle\Laravel\Queue;

use Async\{AsyncException, Coroutine, Future, FutureState, TimeoutException};
use function Async\{await, awaitAll, delay, signal, spawn, spawnInstance, timeout};

/**
 * Workers of a queue in one process, each with an application of its own, in an instance of its own. For all of them there is one
 * set of signals, which are the process's, one count of jobs, and one time of the last `queue:restart`.
 *
 * Its workers see this object, too, although it belongs to none of their instances. So it has plain values, and functions that
 * only set them.
 */
final class Group
{
    /** That workers are to end when they have finished their jobs. */
    public bool $quits = false;
    /** That workers are to take no jobs for now (SIGUSR2, until SIGCONT). */
    public bool $pauses = false;
    /** When it quits, for workers that sleep. */
    public readonly Future $quitting;
    /** What the first worker has found as the time of the last `queue:restart`, in an array: one that is started later is compared with this, too. */
    public ?array $restarted = null;

    private readonly FutureState $quit;
    private int $workers = 0;
    private int $status = 0;
    private int $ready = 0;
    /** How many jobs have been taken, or may be taken by a worker that asks for one. */
    private int $jobs = 0;

    /** @param list<string> $arguments of `queue:work` */
    public function __construct(private readonly string $folder, private readonly array $arguments, private readonly int $maxJobs)
    {
        $this->quitting = new Future($this->quit = new FutureState());
    }

    /** Works with this many workers until all have ended. @return int the status of the process */
    public function run(int $workers): int
    {
        $this->workers = $workers;
        $signals = $this->listen();
        $all = [spawn($this->keep(...))];
        // What is wrong with the application, or the arguments, the first one says, and not all of them.
        while ($this->ready === 0 && !$this->quits) {
            delay(5);
        }
        while (count($all) < $workers) {
            $all[] = spawn($this->keep(...));
        }
        awaitAll($all);
        array_map(static fn (Coroutine $one) => $one->cancel(), $signals);
        return $this->status;
    }

    /** Has all workers end, when they have finished their jobs. */
    public function quit(int $status = 0): void
    {
        $this->status = $this->status ?: $status;
        if (!$this->quits) {
            $this->quits = true;
            $this->quit->complete();
        }
    }

    /** Whether a worker may ask for a job: if there is none, it gives that back. */
    public function mayTake(): bool
    {
        return !$this->quits && ($this->maxJobs === 0 || $this->jobs < $this->maxJobs) && ++$this->jobs;
    }

    public function giveBack(): void
    {
        $this->jobs--;
    }

    /** Starts a worker, and again when one has ended before it should. */
    private function keep(): void
    {
        for ($pause = 100; !$this->quits; $pause = min(2 * $pause, 10_000)) {
            $course = new Course();
            $began = hrtime(true);
            try {
                $status = await(spawnInstance(fn () => Worker::run($this->folder, $this->arguments, $this, $course)));
            } catch (AsyncException $failure) {
                // A fatal error, after which no other job should begin in this process.
                $this->say("a worker has failed, and the others end when they have finished their jobs: {$failure->getMessage()}");
                $this->quit(1);
                return;
            } catch (\Throwable $failure) {
                // Of a coroutine that a job has spawned and not awaited.
                $status = 1;
                $course->isOver = false;
                $course->why = 'a coroutine of a worker has failed, and the worker is started again: ' . $failure::class . ": {$failure->getMessage()}";
                $course->isReady || $this->say($course->why);
            }
            if ($course->isOver) {
                // Status 12 is for the limit of memory, which is the process's.
                $status === 0 || $this->quit($status);
                return;
            }
            if (!$course->isReady) {
                $this->say('a worker does not get ready' . ($this->ready ? ', and is started again' : ''));
                $this->ready || $this->quit(is_int($status) && $status ? $status : 1);
            } else {
                $this->say($course->why ?? 'a worker has ended, and is started again');
            }
            hrtime(true) - $began < 10_000_000_000 || $pause = 100;
            $this->quits || $this->sleep($pause);
        }
    }

    /** Called by each worker when its application is booted. */
    public function isReady(): void
    {
        if (++$this->ready === $this->workers) {
            $this->say($this->workers === 1 ? '1 worker is ready' : "$this->workers workers are ready");
        }
    }

    public function say(string $what): void
    {
        fwrite(STDERR, "spindle:work: $what\n");
    }

    private function sleep(int $milliseconds): void
    {
        try {
            await($this->quitting, timeout($milliseconds));
        } catch (TimeoutException) {
        }
    }

    /** Handlers of pcntl would be the process's, and the last worker's alone. @return list<Coroutine> */
    private function listen(): array
    {
        $all = [];
        $each = static function (int $signal, \Closure $then) use (&$all): void {
            $all[] = spawn(static function () use ($signal, $then): void {
                while (true) {
                    await(signal($signal));
                    $then($signal);
                }
            });
        };
        foreach ([SIGTERM, SIGINT, SIGQUIT] as $signal) {
            $each($signal, function (int $signal): void {
                if ($this->quits && $signal !== SIGQUIT) {
                    // As without a handler: jobs that run are tried again when retry_after has passed.
                    exit(128 + $signal);
                }
                $this->say('the workers end when they have finished their jobs');
                $this->quit();
            });
        }
        $each(SIGUSR2, function (): void { $this->pauses = true; });
        $each(SIGCONT, function (): void { $this->pauses = false; });
        return $all;
    }
}
