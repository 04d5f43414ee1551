--TEST--
Tasks, their schedulers and fibers of schedulers leave no memory behind
--FILE--
<?php
use Async\Task\{CoSocket, Scheduler, Task};
use function Async\Task\{getTaskId, killTask, newTask, retval, stackedCoroutine};
use function Async\{await, spawn, suspend};

final class Queue implements FiberScheduler
{
    public array $deferred = [];
    public function run(): void { while ($this->deferred) (array_shift($this->deferred))(); }
    public function turn(mixed $value = null): mixed
    {
        return Fiber::suspend(fn(Fiber $fiber) => $this->deferred[] = fn() => $fiber->resume($value), $this);
    }
}

$cases = [
    'tasks' => function(int $n) {
        $scheduler = new Scheduler;
        for ($i = 0; $i < $n; $i++) {
            $scheduler->newTask((function() { yield; yield getTaskId(); return yield (function() { yield retval([5]); })(); })());
            if ($i % 50 === 49) $scheduler->run();
        }
        $scheduler->run();
    },
    'schedulers of tasks, run or not' => function(int $n) {
        for ($i = 0; $i < $n; $i++) {
            $scheduler = new Scheduler;
            $scheduler->newTask((function() use (&$scheduler) { yield; yield; $scheduler; })());
            if ($i % 2) $scheduler->run();
        }
    },
    'killed tasks' => function(int $n) {
        $scheduler = new Scheduler;
        for ($i = 0; $i < $n; $i++) {
            $scheduler->killTask($scheduler->newTask((function() { try { yield; } finally { new ArrayObject; } })()));
        }
        $scheduler->run();
    },
    'failed tasks' => function(int $n) {
        $scheduler = new Scheduler;
        for ($i = 0; $i < $n; $i++) {
            $scheduler->schedule($task = new Task($i + 1, (function() { yield; throw new Exception; })()));
            $scheduler->run();
            try { await($task); } catch (Exception) {}
        }
    },
    'streams' => function(int $n) {
        [$from, $to] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        stream_set_blocking($from, false);
        stream_set_blocking($to, false);
        $scheduler = new Scheduler;
        $scheduler->newTask((function() use ($from, $n) {
            $from = new CoSocket($from);
            for ($i = 0; $i < $n; $i++) yield $from->write('x');
        })());
        $scheduler->newTask((function() use ($to, $n) {
            $to = new CoSocket($to);
            for ($i = 0; $i < $n;) $i += strlen(yield $to->read(10));
        })());
        $scheduler->run();
    },
    'stackedCoroutine()' => function(int $n) {
        for ($i = 0; $i < $n; $i++) {
            foreach (stackedCoroutine((function() { yield (function() { yield 1; yield retval(2); })(); })()) as $_);
        }
    },
    'fibers' => function(int $n) {
        $queue = new Queue;
        for ($i = 0; $i < $n; $i++) {
            $fiber = Fiber::create(fn() => $queue->turn());
            $queue->deferred[] = fn() => $fiber->start();
            $queue->turn();
            $queue->turn();
        }
    },
    'fibers that are destroyed' => function(int $n) {
        $queue = new Queue;
        for ($i = 0; $i < $n; $i++) {
            $fiber = Fiber::create(fn() => Fiber::suspend(fn() => 1, $queue));
            $queue->deferred[] = fn() => $fiber->start();
            $queue->turn();
            unset($fiber);
        }
    },
    'fibers that are never started' => function(int $n) {
        for ($i = 0; $i < $n; $i++) {
            Fiber::create(fn() => 1);
            Fiber::create([new ArrayObject, 'count']);
        }
    },
    'coroutines that suspend into a scheduler' => function(int $n) {
        $queue = new Queue;
        for ($i = 0; $i < $n; $i++) await(spawn(fn() => $queue->turn(1)));
    },
    'cancelled ones' => function(int $n) {
        $queue = new Queue;
        for ($i = 0; $i < $n; $i++) {
            $coroutine = spawn(function() use ($queue, &$kept) { Fiber::suspend(function($fiber) use (&$kept) { $kept = $fiber; }, $queue); });
            suspend();
            $coroutine->cancel();
            suspend();
            suspend();
        }
    },
    'schedulers that throw' => function(int $n) {
        for ($i = 0; $i < $n; $i++) {
            $queue = new Queue;
            $queue->deferred[] = fn() => throw new Exception;
            try { $queue->turn($i); } catch (FiberExit) {}
        }
    },
    'reflection' => function(int $n) {
        $queue = new Queue;
        $queue->deferred[] = function() use ($queue, $n) {
            for ($i = 0; $i < $n; $i++) (new ReflectionFiberScheduler($queue))->getTrace();
        };
        $queue->turn();
    },
];
foreach ($cases as $name => $case) {
    $case(5000); // as many: the engine's tables have grown
    gc_collect_cycles();
    $before = memory_get_usage();
    $case(5000);
    gc_collect_cycles();
    $more = memory_get_usage() - $before;
    echo $name, ': ', $more < 20_000 ? 'none' : "$more bytes", "\n";
}
?>
--EXPECT--
tasks: none
schedulers of tasks, run or not: none
killed tasks: none
failed tasks: none
streams: none
stackedCoroutine(): none
fibers: none
fibers that are destroyed: none
fibers that are never started: none
coroutines that suspend into a scheduler: none
cancelled ones: none
schedulers that throw: none
reflection: none
