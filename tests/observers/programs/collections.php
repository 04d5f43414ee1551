<?php
use function Async\{await, spawn, suspend};

function collects(): void
{
    $cycle = new stdClass();
    $cycle->self = $cycle;
    unset($cycle);
    suspend();
    gc_collect_cycles();
    suspend();
}

$a = spawn('collects');
$b = spawn('collects');
await($a);
await($b);
echo "fine\n";
