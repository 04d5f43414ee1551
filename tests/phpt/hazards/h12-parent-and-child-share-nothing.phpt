--TEST--
H12 after a fork both processes wait on the same sockets without taking each other's events
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
use function Async\{await, delay, spawn};

require __DIR__ . '/kit.inc';

[$a, $b] = T\pair();
[$toChild, $ofChild] = T\pair();
$reader = spawn(fn() => fgets($a)); // registered with the reactor before the fork
T\parked($reader);
$pid = pcntl_fork();
if ($pid === 0) {
    // the child's reactor gets other descriptors under way, and closes what the parent waits on
    fclose($a);
    for ($i = 0; $i < 5; $i++) {
        $line = await(spawn(fn() => fgets($ofChild)));
        fwrite($ofChild, "child heard $line");
        delay(2);
    }
    exit(0);
}
$ticks = new T\Ticks;
for ($i = 0; $i < 5; $i++) {
    fwrite($toChild, "$i\n");
    echo await(spawn(fn() => fgets($toChild)));
}
T\check('ticking', $ticks->more());
var_dump($reader->isSuspended());
pcntl_waitpid($pid, $status);
fwrite($b, "for the parent\n");
echo await($reader), pcntl_wexitstatus($status), "\n";
$ticks->stop();
?>
--EXPECT--
child heard 0
child heard 1
child heard 2
child heard 3
child heard 4
ticking: yes
bool(true)
for the parent
0
