<?php
use function Async\{await, spawn, suspend};

function seenInner(): void
{
    suspend();
}

function seenOuter(): void
{
    seenInner();
}

function seenQuick(): void
{
}

$a = spawn('seenOuter');
await($a);
spawn('seenQuick');
spawn('seenQuick');
spawn(function (): void {
    $fiber = new Fiber(function (): void {
        seenOuter();
        Fiber::suspend();
    });
    $fiber->start();
    $fiber->resume();
});
spawn('seenOuter');
