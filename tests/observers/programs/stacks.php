<?php
use function Async\{await, spawn, suspend};

function alpha(): string
{
    suspend();
    return implode(' > ', array_reverse(array_column(xdebug_get_function_stack(), 'function')));
}

function betaOf(): string
{
    return alpha();
}

function gamma(): void
{
    throw new Exception();
}

function delta(): void
{
    suspend();
    gamma();
}

$a = spawn(fn() => betaOf());
$b = spawn(fn() => betaOf());
$c = spawn('delta');
echo await($a), "\n", await($b), "\n";
try {
    await($c);
} catch (Exception $e) {
    echo 'Exception: ', implode(' < ', array_column($e->getTrace(), 'function')), "\n";
}
