--TEST--
H4 an open that was given up, and that nothing gets out of its call, closes what it gets in the end
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
use function Async\spawn;

require __DIR__ . '/kit.inc';
T\work_in();
posix_mkfifo('fifo', 0600);

// the program uses all the signals by which it could be interrupted
for ($signal = SIGRTMIN; $signal <= SIGRTMAX; $signal++) pcntl_signal($signal, fn() => null);
$opening = spawn(fn() => @fopen('fifo', 'r'));
T\parked($opening);
$opening->cancel();
echo get_class(T\failure($opening)), "\n";
$other = fopen('fifo', 'w'); // comes back as soon as there is the other end
T\check('nobody has that end', T\until(fn() => @fwrite($other, 'x') === false));
?>
--EXPECT--
Async\CancellationException
nobody has that end: yes
