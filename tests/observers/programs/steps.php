<?php
use function Async\{await, spawn, suspend};

function work(string $who, int $base): int
{
    $sum = $base;
    suspend();
    $sum += 1;
    suspend();
    return $sum * 2;
}

function first(): int
{
    $mine = 'of the first';
    return work('first', 10);
}

function second(): int
{
    $mine = 'of the second';
    return work('second', 20);
}

$a = spawn(first(...));
$b = spawn(second(...));
echo await($a), ' ', await($b), "\n";
