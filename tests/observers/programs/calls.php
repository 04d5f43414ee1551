<?php
// Two flows of calls in turn: as coroutines, as fibers, or one after the other.
namespace Program;

function inner(string $who): int
{
    pause();
    if ($who === 'nobody') {
        return never();
    }
    pause();
    return strlen($who);
}

function first(): int
{
    $length = inner('first');
    pause();
    return $length + last();
}

function second(): int
{
    return inner('second') + last();
}

function last(): int
{
    pause();
    return 1;
}

function never(): int
{
    return 0;
}

$way = getenv('WAY');
if ($way === 'coroutines') {
    function pause(): void
    {
        \Async\suspend();
    }
    $a = \Async\spawn(first(...));
    $b = \Async\spawn(second(...));
    $sum = \Async\await($a) + \Async\await($b);
} elseif ($way === 'fibers') {
    function pause(): void
    {
        \Fiber::suspend();
    }
    $fibers = [new \Fiber(first(...)), new \Fiber(second(...))];
    foreach ($fibers as $fiber) {
        $fiber->start();
    }
    do {
        $left = 0;
        foreach ($fibers as $fiber) {
            if (!$fiber->isTerminated()) {
                $fiber->resume();
                $left++;
            }
        }
    } while ($left > 0);
    $sum = $fibers[0]->getReturn() + $fibers[1]->getReturn();
} else {
    function pause(): void
    {
    }
    $sum = first() + second();
}
echo "sum $sum\n";
