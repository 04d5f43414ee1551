--TEST--
IO-8 a call that waited for one of its handles uses none of the others that somebody has taken meanwhile
--FILE--
<?php
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';

[$from, $sender] = T\pair();
[$to, $drain] = T\pair();
$writer = spawn(fn() => fwrite($to, str_repeat('w', 3_000_000)));
T\parked($writer);                                                     // holds $to
$copier = spawn(fn() => stream_copy_to_stream($from, $to, 5));
T\parked($copier);                                                     // $from is free; it waits for $to
$reader = spawn(fn() => fread($from, 5));
T\parked($reader);                                                     // holds $from
for ($n = 0; $n < 3_000_000; ) $n += strlen(fread($drain, 100_000));   // $to is free now
await($writer);
T\parked($copier);
$calls = array_column([$copier->getAwaitingInfo(), $reader->getAwaitingInfo()], 'call');
T\check('one reader at a time', in_array('locked handle', $calls), $calls);
fwrite($sender, 'firstother');
echo await($reader), ' ', await($copier), "\n";
// two calls with the same two handles, the other way round
[$a, $b] = T\pair();
[$c, $d] = T\pair();
$hold = spawn(fn() => fread($a, 1));
T\parked($hold);
$one = spawn(fn() => stream_copy_to_stream($a, $d, 3));
$two = spawn(fn() => stream_copy_to_stream($d, $a, 3));
T\parked($one, $two);
fwrite($b, 'xabc');
fwrite($c, 'def');
echo await($hold), await($one), await($two), ' ', fread($c, 3), fread($b, 3), "\n";
// and each has got the first of them when the other one is taken
[$a, $b] = T\pair();
[$c, $d] = T\pair();
$holders = [spawn(fn() => fread($a, 1)), spawn(fn() => fread($d, 1))];
T\parked(...$holders);
$one = spawn(fn() => stream_copy_to_stream($a, $d, 3));
$two = spawn(fn() => stream_copy_to_stream($d, $a, 3));
T\parked($one, $two);
fwrite($b, 'x');
fwrite($c, 'y');
echo implode(T\all($holders));
T\parked($one, $two);
fwrite($b, 'abc');
fwrite($c, 'def');
echo await($one), await($two), ' ', fread($c, 3), fread($b, 3), "\n";
?>
--EXPECT--
one reader at a time: yes
first 5
x33 abcdef
xy33 abcdef
