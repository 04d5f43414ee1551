--TEST--
CORO-7 getCoroutines() lists those alive, none twice, and holds nobody back
--FILE--
<?php
use function Async\{await, currentCoroutine, delay, getCoroutines, spawn};

require __DIR__ . '/kit.inc';

$jobs = [];
for ($i = 0; $i < 100; $i++) $jobs[] = spawn(fn() => delay($i % 2 ? 20 : 10_000));
T\begun(...$jobs);
$all = getCoroutines();
var_dump(count($all), count(array_unique(array_map(fn($c) => $c->getId(), $all))), in_array(currentCoroutine(), $all, true));
for ($i = 1; $i < 100; $i += 2) await($jobs[$i]);
var_dump(count(getCoroutines()));
foreach (getCoroutines() as $c) if ($c !== currentCoroutine()) $c->cancel();
T\alone();
var_dump(count(getCoroutines()));

// one that is in no variable is listed, and can be cancelled from the list
$c = spawn(function() { try { delay(600_000); } finally { echo "found and cancelled\n"; } });
T\begun($c);
unset($all, $jobs, $c);
[$found] = array_values(array_filter(getCoroutines(), fn($c) => $c !== currentCoroutine()));
$found->cancel();
T\ended($found);
$weak = WeakReference::create($found);
unset($found);
var_dump($weak->get());
?>
--EXPECT--
int(101)
int(101)
bool(true)
int(51)
int(1)
found and cancelled
NULL
