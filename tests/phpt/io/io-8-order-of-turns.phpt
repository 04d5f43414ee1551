--TEST--
IO-8 first come, first served: nobody begins a call before those who wait and would be disturbed by it
--INI--
async.seed=0
--FILE--
<?php
use function Async\{await, spawn};

require __DIR__ . '/kit.inc';

$waits = fn(Async\Coroutine $c) => $c->getAwaitingInfo()['call'] === 'locked handle';

// a reader has it, who wants both directions waits, and so does a writer behind that one, whom the reader would let pass
[$a, $b] = T\pair();
[$to, $end] = T\pair();
$reader = spawn(fn() => fread($a, 1));
T\parked($reader);
$copier = spawn(fn() => stream_copy_to_stream($a, $to, 3));
T\parked($copier);
$writer = spawn(fn() => fwrite($a, 'later'));
T\parked($writer);
T\check('the writer waits behind the copy', $waits($copier) && $waits($writer));
fwrite($b, 'rabc');
echo await($reader), await($copier), await($writer), ' ', fread($end, 3), ' ', fread($b, 5), "\n";

// a writer ends while a reader goes on: of those who wait the first one must wait on, and the second one behind it
[$a, $b] = T\pair();
$reader = spawn(fn() => fread($a, 1));
T\parked($reader);
$writer = spawn(fn() => fwrite($a, str_repeat('w', 3_000_000)));
T\parked($writer);
$copier = spawn(fn() => stream_copy_to_stream($a, $to, 3));
T\parked($copier);
$second = spawn(fn() => fwrite($a, 'later'));
T\parked($second);
for ($n = 0; $n < 3_000_000; ) $n += strlen(fread($b, 3_000_000 - $n));
await($writer);
T\parked($second);
T\check('the second writer waits behind the copy', $waits($copier) && $waits($second));
fwrite($b, 'rdef');
echo await($reader), await($copier), await($second), ' ', fread($end, 3), ' ', fread($b, 5), "\n";

// whose turn it is has it, though who was before it comes again before it runs
[$a, $b] = T\pair();
$first = spawn(fn() => [fgets($a), fgets($a)]);
T\parked($first);
$other = spawn(fn() => fgets($a));
T\parked($other);
fwrite($b, "1\n2\n3\n");
echo trim(implode(await($first)) . '|' . await($other)), "\n";

// a turn ends with its call, not with its coroutine
$first = spawn(function() use ($a, &$other) { fgets($a); return T\until(fn() => $other->isCompleted()); });
T\parked($first);
$other = spawn(fn() => fgets($a));
T\parked($other);
fwrite($b, "4\n5\n");
T\check('the other one had its turn', await($first));
?>
--EXPECT--
the writer waits behind the copy: yes
r35 abc later
the second writer waits behind the copy: yes
r35 def later
1
3
|2
the other one had its turn: yes
