<?php
/**
 * 100 generator tasks that do $n steps altogether: ns for each. $kind: 0, a `yield` of nothing; 1, a system call; 2, a call of
 * a generator that returns at once.
 */
require __DIR__ . '/../lib/suite.php';
require __DIR__ . '/../lib/tasks.php';

const TASKS = 100;

function adds(int $a, int $b): Generator
{
    return $a + $b;
    yield;
}

/** @param Closure(): object $getTaskId */
function task(int $kind, int $steps, Closure $getTaskId, int &$done): Generator
{
    for ($i = 0; $i < $steps; $i++) {
        if ($kind === 0) {
            yield;
            $done++;
        } elseif ($kind === 1) {
            $done += (yield $getTaskId()) > 0 ? 1 : 0;
        } else {
            $done += yield adds(0, 1);
        }
    }
}

/** Runs the tasks in a scheduler of either kind. */
function steps(Async\Task\Scheduler|Plain\Scheduler $scheduler, Closure $getTaskId, int $n, int $kind): float
{
    $steps = intdiv($n, TASKS);
    $done = 0;
    for ($i = 0; $i < TASKS; $i++) {
        $scheduler->newTask(task($kind, $steps, $getTaskId, $done));
    }
    $start = now();
    $scheduler->run();
    $ns = now() - $start;
    check($done === TASKS * $steps, "$done steps of " . TASKS * $steps);
    return $ns / $done;
}

bench('ns',
    spindle: static fn(int $n, int $kind): float => steps(new Async\Task\Scheduler(), Async\Task\getTaskId(...), $n, $kind),
    plain: static fn(int $n, int $kind): float => steps(new Plain\Scheduler(), Plain\getTaskId(...), $n, $kind),
    warm: 1000,
);
