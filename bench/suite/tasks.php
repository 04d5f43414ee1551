<?php
/**
 * Generator tasks: ns for each of $n steps that 100 tasks do altogether. $kind: 0, a `yield` of nothing; 1, a system call; 2, a call
 * of a generator that gives its result by `retval()`; 3, a whole task, from newTask() to its end, which does two steps, a system
 * call and a call; 4, the same without the call and with ten steps.
 */
require __DIR__ . '/../lib/suite.php';
require __DIR__ . '/../lib/tasks.php';

const TASKS = 100;

/** The functions of one side. */
final readonly class Side
{
    /**
     * @param Closure(): object $getTaskId
     * @param Closure(mixed): object $retval
     */
    public function __construct(
        public Async\Task\Scheduler|Plain\Scheduler $scheduler,
        public Closure $getTaskId,
        public Closure $retval,
    ) {}
}

function adds(int $a, int $b, Closure $retval): Generator
{
    yield $retval($a + $b);
}

function task(int $kind, int $steps, Side $side, int &$done): Generator
{
    [$getTaskId, $retval] = [$side->getTaskId, $side->retval];
    for ($i = 0; $i < $steps; $i++) {
        if ($kind === 0) {
            yield;
            $done++;
        } elseif ($kind === 1) {
            $done += (yield $getTaskId()) > 0 ? 1 : 0;
        } else {
            $done += yield adds(0, 1, $retval);
        }
    }
}

function whole(Side $side, int &$done): Generator
{
    yield;
    $id = yield ($side->getTaskId)();
    yield;
    $done += yield adds($id, 1 - $id, $side->retval);
}

function counting(Side $side, int &$done): Generator
{
    $id = yield ($side->getTaskId)();
    for ($i = 0; $i < 10; $i++) {
        yield;
    }
    $done += $id > 0 ? 1 : 0;
}

/** Runs the tasks in a scheduler of either kind. */
function steps(Side $side, int $n, int $kind): float
{
    $done = 0;
    $start = now();
    if ($kind >= 3) {
        // As a server does: always so many at once.
        $all = (static function () use ($side, $n, $kind, &$done): Generator {
            for ($i = 0; $i < $n; $i++) {
                $side->scheduler->newTask($kind === 3 ? whole($side, $done) : counting($side, $done));
                if ($i % TASKS === TASKS - 1) {
                    while ($done + TASKS / 2 < $i) {
                        yield;
                    }
                }
            }
        })();
        $side->scheduler->newTask($all);
    } else {
        $steps = intdiv($n, TASKS);
        for ($i = 0; $i < TASKS; $i++) {
            $side->scheduler->newTask(task($kind, $steps, $side, $done));
        }
        $start = now();
        $n = TASKS * $steps;
    }
    $side->scheduler->run();
    $ns = now() - $start;
    check($done === $n, "$done of $n");
    return $ns / $done;
}

bench('ns',
    spindle: static fn(int $n, int $kind): float => steps(
        new Side(new Async\Task\Scheduler(), Async\Task\getTaskId(...), Async\Task\retval(...)), $n, $kind),
    plain: static fn(int $n, int $kind): float => steps(
        new Side(new Plain\Scheduler(), Plain\getTaskId(...), Plain\retval(...)), $n, $kind),
    warm: 1000,
);
