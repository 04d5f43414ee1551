<?php
/**
 * A scheduler of generator tasks in plain PHP, of the usual shape: a queue of tasks, system calls that are closures, a wrapper
 * generator for tasks that call generators, and one `stream_select` for each round.
 */

namespace Plain;

use Closure;
use Generator;
use SplQueue;
use Throwable;

final class SystemCall
{
    public function __construct(private Closure $callback) {}

    public function __invoke(Task $task, Scheduler $scheduler): void
    {
        ($this->callback)($task, $scheduler);
    }
}

final class Task
{
    private Generator $code;
    private mixed $value = null;
    private ?Throwable $exception = null;
    private bool $begun = false;

    public function __construct(private int $id, Generator $code)
    {
        $this->code = stacked($code);
    }

    public function id(): int
    {
        return $this->id;
    }

    public function send(mixed $value): void
    {
        $this->value = $value;
    }

    public function throw(Throwable $exception): void
    {
        $this->exception = $exception;
    }

    public function run(): mixed
    {
        if (!$this->begun) {
            $this->begun = true;
            return $this->code->current();
        }
        if ($this->exception !== null) {
            $exception = $this->exception;
            $this->exception = null;
            return $this->code->throw($exception);
        }
        $value = $this->value;
        $this->value = null;
        return $this->code->send($value);
    }

    public function isFinished(): bool
    {
        return !$this->code->valid();
    }
}

/** Runs a generator and those that it yields: each of these is called, and the `yield` returns its result. */
function stacked(Generator $code): Generator
{
    $callers = [];
    $exception = null;
    while (true) {
        try {
            if ($exception !== null) {
                $thrown = $exception;
                $exception = null;
                $code->throw($thrown);
                continue;
            }
            $value = $code->current();
            if (!$code->valid()) {
                if ($callers === []) {
                    return;
                }
                $result = $code->getReturn();
                $code = array_pop($callers);
                $code->send($result);
                continue;
            }
            if ($value instanceof Generator) {
                $callers[] = $code;
                $code = $value;
                continue;
            }
            try {
                $sent = yield $value;
            } catch (Throwable $thrown) {
                $code->throw($thrown);
                continue;
            }
            $code->send($sent);
        } catch (Throwable $thrown) {
            if ($callers === []) {
                throw $thrown;
            }
            $code = array_pop($callers);
            $exception = $thrown;
        }
    }
}

final class Scheduler
{
    private int $last = 0;
    /** @var array<int, Task> */
    private array $tasks = [];
    private SplQueue $queue;
    /** @var array<int, array{resource, list<Task>}> */
    private array $reading = [];
    /** @var array<int, array{resource, list<Task>}> */
    private array $writing = [];

    public function __construct()
    {
        $this->queue = new SplQueue();
    }

    public function newTask(Generator $code): int
    {
        $id = ++$this->last;
        $this->schedule($this->tasks[$id] = new Task($id, $code));
        return $id;
    }

    public function schedule(Task $task): void
    {
        $this->queue->enqueue($task);
    }

    public function waitForRead($stream, Task $task): void
    {
        $this->reading[(int) $stream][0] = $stream;
        $this->reading[(int) $stream][1][] = $task;
    }

    public function waitForWrite($stream, Task $task): void
    {
        $this->writing[(int) $stream][0] = $stream;
        $this->writing[(int) $stream][1][] = $task;
    }

    /** A round of all that are queued, and a look at the streams. */
    public function run(): void
    {
        while (true) {
            for ($left = $this->queue->count(); $left > 0; $left--) {
                $task = $this->queue->dequeue();
                $yielded = $task->run();
                if ($yielded instanceof SystemCall) {
                    try {
                        $yielded($task, $this);
                    } catch (Throwable $thrown) {
                        $task->throw($thrown);
                        $this->schedule($task);
                    }
                } elseif ($task->isFinished()) {
                    unset($this->tasks[$task->id()]);
                } else {
                    $this->schedule($task);
                }
            }
            if ($this->reading !== [] || $this->writing !== []) {
                $this->poll($this->queue->isEmpty() ? null : 0);
            } elseif ($this->queue->isEmpty()) {
                return;
            }
        }
    }

    private function poll(?int $timeout): void
    {
        $read = array_column($this->reading, 0);
        $write = array_column($this->writing, 0);
        $except = null;
        if (!stream_select($read, $write, $except, $timeout)) {
            return;
        }
        foreach ($read as $stream) {
            [, $tasks] = $this->reading[(int) $stream];
            unset($this->reading[(int) $stream]);
            array_map($this->schedule(...), $tasks);
        }
        foreach ($write as $stream) {
            [, $tasks] = $this->writing[(int) $stream];
            unset($this->writing[(int) $stream]);
            array_map($this->schedule(...), $tasks);
        }
    }
}

function getTaskId(): SystemCall
{
    return new SystemCall(static function (Task $task, Scheduler $scheduler): void {
        $task->send($task->id());
        $scheduler->schedule($task);
    });
}

function newTask(Generator $code): SystemCall
{
    return new SystemCall(static function (Task $task, Scheduler $scheduler) use ($code): void {
        $task->send($scheduler->newTask($code));
        $scheduler->schedule($task);
    });
}

function waitForRead($stream): SystemCall
{
    return new SystemCall(static fn(Task $task, Scheduler $scheduler) => $scheduler->waitForRead($stream, $task));
}

function waitForWrite($stream): SystemCall
{
    return new SystemCall(static fn(Task $task, Scheduler $scheduler) => $scheduler->waitForWrite($stream, $task));
}

final class CoSocket
{
    public function __construct(private $stream) {}

    public function accept(): Generator
    {
        yield waitForRead($this->stream);
        return new CoSocket(stream_socket_accept($this->stream, 0));
    }

    public function read(int $size): Generator
    {
        yield waitForRead($this->stream);
        return fread($this->stream, $size);
    }

    public function write(string $string): Generator
    {
        yield waitForWrite($this->stream);
        return fwrite($this->stream, $string);
    }

    public function close(): void
    {
        fclose($this->stream);
    }
}
