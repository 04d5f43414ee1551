--TEST--
H6 while proc_close() waits for its process, handles of other processes end without waiting
--EXTENSIONS--
posix
--FILE--
<?php
use function Async\{await, spawn};

require __DIR__ . '/kit.inc';
T\work_in();
$start = function(string $fifo) {
    posix_mkfifo($fifo, 0600);
    $nothing = ['file', '/dev/null', 'r+'];
    return proc_open(['timeout', '30', 'cat', $fifo], [$nothing, $nothing, $nothing], $pipes);
};
$one = $start('one');
$two = $start('two');
$pid = proc_get_status($two)['pid'];
$closes = spawn(fn() => proc_close($one));
T\parked($closes);
$ends = spawn(function() use (&$two) { $two = null; });
await($ends, Async\timeout(60_000));
T\check('both run', posix_kill($pid, 0) && !$closes->isCompleted());
fclose(fopen('one', 'w'));
echo await($closes), "\n";
fclose(fopen('two', 'w'));
T\check('the other one has ended', T\until(fn() => !posix_kill($pid, 0)));
?>
--EXPECT--
both run: yes
0
the other one has ended: yes
