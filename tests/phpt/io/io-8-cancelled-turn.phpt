--TEST--
IO-8 who is cancelled while waiting for a turn makes no call, and keeps nobody else waiting
--FILE--
<?php
use function Async\{await, spawn};

require __DIR__ . '/kit.inc';

[$a, $b] = T\pair();
$readers = [];
for ($i = 0; $i < 3; $i++) T\parked($readers[] = spawn(fn() => fgets($a)));
$readers[1]->cancel();
echo get_class(T\failure($readers[1])), "\n";
T\check('the others wait', !$readers[0]->isCompleted() && !$readers[2]->isCompleted());
fwrite($b, "1\n2\n");
echo await($readers[0]), await($readers[2]);
?>
--EXPECT--
Async\CancellationException
the others wait: yes
1
2
