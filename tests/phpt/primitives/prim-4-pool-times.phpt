--TEST--
A pool keeps its least number of things, destroys those that were free too long, and checks them after a time
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\Pool;
use function Async\delay;

$number = $checks = 0;
$make = function() use (&$number) { $thing = new stdClass; $thing->number = ++$number; return $thing; };
$pool = new Pool($make, function(stdClass $thing) { echo "destroy $thing->number\n"; }, min: 1, max: 3, idleTime: 500);
T\check('made at once', count($pool) === 1 && $number === 1);
$all = [$pool->acquire(), $pool->acquire(), $pool->acquire()];
array_map($pool->release(...), $all);
T\check('three', $pool->idleCount() === 3);
delay(510);
$thing = $pool->acquire(); // the one that was used last is too old, and a new one takes its place
T\check('a new one', $thing->number === 4, $thing->number);
$pool->release($thing);
T\check('the old ones are gone', count($pool) === 1);

$pool = new Pool($make, null, function() use (&$checks) { $checks++; }, healthcheckInterval: 500);
for ($i = 0; $i < 3; $i++) $pool->with(fn() => null);
T\check('not checked yet', $checks === 0 || T\ms(0) > 500);
delay(510);
$checks = 0;
$pool->with(fn() => null);
T\check('checked', $checks === 1);
?>
--EXPECT--
made at once: yes
three: yes
destroy 3
a new one: yes
destroy 1
destroy 2
the old ones are gone: yes
destroy 4
not checked yet: yes
checked: yes
