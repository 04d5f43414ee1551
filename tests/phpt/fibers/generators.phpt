--TEST--
A generator suspends the fiber that runs it
--FILE--
<?php
require __DIR__ . '/loop.inc';

$q = new Queue;
function g($q) { for ($i = 0; $i < 3; $i++) yield $q->turn($i); }
$f = $q->fiber(function () use ($q) { foreach (g($q) as $x) echo "f$x\n"; });
foreach (g($q) as $x) echo "m$x\n";
?>
--EXPECT--
m0
f0
m1
f1
m2
f2
