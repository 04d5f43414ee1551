--TEST--
H4 a cancelled open is got out of its call by a signal that the program does not use, whatever it uses
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
use function Async\spawn;

require __DIR__ . '/kit.inc';
T\work_in();
posix_mkfifo('fifo', 0600);
pcntl_async_signals(true);

$threads = fn() => count(scandir('/proc/self/task')) - 2;
$cancelled = function(string $when) use ($threads) {
    $open = spawn(fn() => @fopen('fifo', 'r'));
    T\parked($open);
    $open->cancel();
    T\failure($open);
    // the thread is free again when the next open, of the other end, finds nobody there
    T\check($when, T\until(fn() => !@fopen('fifo', 'wn')));
};
$cancelled('as it is');
$seen = 0;
for ($signal = SIGRTMAX - 12; $signal < SIGRTMAX; $signal++) pcntl_signal($signal, function() use (&$seen) { $seen++; });
$cancelled('with handlers for many');
for ($signal = SIGRTMAX - 12; $signal < SIGRTMAX; $signal++) pcntl_signal($signal, SIG_DFL);
$cancelled('with the default');

// taken while an open is under way
$open = spawn(fn() => @fopen('fifo', 'r'));
T\parked($open);
for ($signal = SIGRTMIN; $signal < SIGRTMAX; $signal++) pcntl_signal($signal, function() use (&$seen) { $seen++; });
$open->cancel();
T\failure($open);
T\turns(30);
var_dump($seen);
exit;
?>
--EXPECT--
as it is: yes
with handlers for many: yes
with the default: yes
int(0)
