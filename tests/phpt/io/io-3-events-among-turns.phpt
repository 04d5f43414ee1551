--TEST--
IO-3 coroutines that only give their turns to one another keep nobody waiting whose event has come
--FILE--
<?php
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';

[$a, $b] = T\pair();
$reads = spawn(fn() => fgets($a));
$sleeps = spawn(fn() => T\turns(5));
T\parked($reads);
fwrite($b, "read\n");
$end = hrtime(true) + 10_000_000_000;
$turns = function() use ($reads, $sleeps, $end) {
    while (!$reads->isCompleted() || !$sleeps->isCompleted()) {
        if (hrtime(true) > $end) return 'in vain';
        suspend();
    }
    return 'over';
};
echo implode(' ', T\all([spawn($turns), spawn($turns)])), "\n";
?>
--EXPECT--
over over
