<?php
use function Async\{spawn, suspend};

function seenParked(): void
{
    suspend();
    suspend();
    suspend();
}

function seenEnd(): void
{
    suspend();
    if (getenv('HOW') === 'exit') {
        exit(3);
    }
    str_repeat('x', 1 << 40);
}

spawn('seenParked');
spawn('seenEnd');
