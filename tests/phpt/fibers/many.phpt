--TEST--
Many fibers
--FILE--
<?php
require __DIR__ . '/loop.inc';

$q = new Queue; $sum = 0;
for ($i = 0; $i < 2000; $i++) $q->fiber(function () use ($q, &$sum, $i) { for ($k = 0; $k < 5; $k++) $sum += $q->turn($i); });
for ($k = 0; $k < 20; $k++) $q->turn();
var_dump($sum === 5 * 1999 * 1000);
?>
--EXPECT--
bool(true)
