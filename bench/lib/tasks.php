<?php
/**
 * A scheduler of generator tasks in plain PHP, as people have written it since PHP 5.5: a queue of tasks; system calls that
 * are callables; a wrapper generator around each task, with a stack of the generators that call each other; results of these
 * as marked values; and a task of the scheduler's own that looks at the streams once in each round.
 */

namespace Plain;

use Exception;
use Generator;
use SplQueue;
use SplStack;

class SystemCall
{
    protected $callback;

    public function __construct(callable $callback)
    {
        $this->callback = $callback;
    }

    public function __invoke(Task $task, Scheduler $scheduler)
    {
        $callback = $this->callback;
        return $callback($task, $scheduler);
    }
}

class ReturnValue
{
    protected $value;

    public function __construct($value)
    {
        $this->value = $value;
    }

    public function value()
    {
        return $this->value;
    }
}

class Task
{
    protected $id;
    protected $coroutine;
    protected $value = null;
    protected $exception = null;
    protected $isNew = true;

    public function __construct($id, Generator $coroutine)
    {
        $this->id = $id;
        $this->coroutine = stacked($coroutine);
    }

    public function id()
    {
        return $this->id;
    }

    public function setValue($value)
    {
        $this->value = $value;
    }

    public function setException($exception)
    {
        $this->exception = $exception;
    }

    public function run()
    {
        if ($this->isNew) {
            $this->isNew = false;
            return $this->coroutine->current();
        }
        if ($this->exception) {
            $yielded = $this->coroutine->throw($this->exception);
            $this->exception = null;
            return $yielded;
        }
        $yielded = $this->coroutine->send($this->value);
        $this->value = null;
        return $yielded;
    }

    public function isFinished()
    {
        return !$this->coroutine->valid();
    }
}

/** Runs a generator and those that it calls by yielding them. */
function stacked(Generator $running)
{
    $callers = new SplStack();
    $thrown = null;
    for (;;) {
        try {
            if ($thrown) {
                $running->throw($thrown);
                $thrown = null;
                continue;
            }
            $yielded = $running->current();
            if ($yielded instanceof Generator) {
                $callers->push($running);
                $running = $yielded;
                continue;
            }
            $isResult = $yielded instanceof ReturnValue;
            if (!$running->valid() || $isResult) {
                if ($callers->isEmpty()) {
                    return;
                }
                $running = $callers->pop();
                $running->send($isResult ? $yielded->value() : null);
                continue;
            }
            try {
                $sent = (yield $running->key() => $yielded);
            } catch (Exception $e) {
                $running->throw($e);
                continue;
            }
            $running->send($sent);
        } catch (Exception $e) {
            if ($callers->isEmpty()) {
                throw $e;
            }
            $running = $callers->pop();
            $thrown = $e;
        }
    }
}

class Scheduler
{
    protected $lastId = 0;
    protected $tasks = [];
    protected $queue;
    /** The number of a stream => [stream, tasks] */
    protected $waitingForRead = [];
    protected $waitingForWrite = [];

    public function __construct()
    {
        $this->queue = new SplQueue();
    }

    public function newTask(Generator $coroutine)
    {
        $id = ++$this->lastId;
        $task = new Task($id, $coroutine);
        $this->tasks[$id] = $task;
        $this->schedule($task);
        return $id;
    }

    public function schedule(Task $task)
    {
        $this->queue->enqueue($task);
    }

    public function waitForRead($stream, Task $task)
    {
        if (isset($this->waitingForRead[(int) $stream])) {
            $this->waitingForRead[(int) $stream][1][] = $task;
        } else {
            $this->waitingForRead[(int) $stream] = [$stream, [$task]];
        }
    }

    public function waitForWrite($stream, Task $task)
    {
        if (isset($this->waitingForWrite[(int) $stream])) {
            $this->waitingForWrite[(int) $stream][1][] = $task;
        } else {
            $this->waitingForWrite[(int) $stream] = [$stream, [$task]];
        }
    }

    public function run()
    {
        $this->newTask($this->pollTask());
        while (!$this->queue->isEmpty()) {
            $task = $this->queue->dequeue();
            $yielded = $task->run();
            if ($yielded instanceof SystemCall) {
                try {
                    $yielded($task, $this);
                } catch (Exception $e) {
                    $task->setException($e);
                    $this->schedule($task);
                }
                continue;
            }
            if ($task->isFinished()) {
                unset($this->tasks[$task->id()]);
            } else {
                $this->schedule($task);
            }
        }
    }

    /** Ends, unlike others of its kind, when nothing is left that it could wait for: then `run()` ends, too. */
    protected function pollTask()
    {
        while (!$this->queue->isEmpty() || $this->waitingForRead || $this->waitingForWrite) {
            if ($this->waitingForRead || $this->waitingForWrite) {
                $this->poll($this->queue->isEmpty() ? null : 0);
            }
            yield;
        }
    }

    protected function poll($timeout)
    {
        $read = [];
        foreach ($this->waitingForRead as [$stream]) {
            $read[] = $stream;
        }
        $write = [];
        foreach ($this->waitingForWrite as [$stream]) {
            $write[] = $stream;
        }
        $except = [];
        if (!stream_select($read, $write, $except, $timeout)) {
            return;
        }
        foreach ($read as $stream) {
            [, $tasks] = $this->waitingForRead[(int) $stream];
            unset($this->waitingForRead[(int) $stream]);
            foreach ($tasks as $task) {
                $this->schedule($task);
            }
        }
        foreach ($write as $stream) {
            [, $tasks] = $this->waitingForWrite[(int) $stream];
            unset($this->waitingForWrite[(int) $stream]);
            foreach ($tasks as $task) {
                $this->schedule($task);
            }
        }
    }
}

function retval($value)
{
    return new ReturnValue($value);
}

function getTaskId()
{
    return new SystemCall(function (Task $task, Scheduler $scheduler) {
        $task->setValue($task->id());
        $scheduler->schedule($task);
    });
}

function newTask(Generator $coroutine)
{
    return new SystemCall(function (Task $task, Scheduler $scheduler) use ($coroutine) {
        $task->setValue($scheduler->newTask($coroutine));
        $scheduler->schedule($task);
    });
}

function waitForRead($stream)
{
    return new SystemCall(function (Task $task, Scheduler $scheduler) use ($stream) {
        $scheduler->waitForRead($stream, $task);
    });
}

function waitForWrite($stream)
{
    return new SystemCall(function (Task $task, Scheduler $scheduler) use ($stream) {
        $scheduler->waitForWrite($stream, $task);
    });
}

class CoSocket
{
    protected $stream;

    public function __construct($stream)
    {
        $this->stream = $stream;
    }

    public function accept()
    {
        yield waitForRead($this->stream);
        yield retval(new CoSocket(stream_socket_accept($this->stream, 0)));
    }

    public function read($size)
    {
        yield waitForRead($this->stream);
        yield retval(fread($this->stream, $size));
    }

    public function write($string)
    {
        yield waitForWrite($this->stream);
        yield retval(fwrite($this->stream, $string));
    }

    public function close()
    {
        fclose($this->stream);
    }
}
