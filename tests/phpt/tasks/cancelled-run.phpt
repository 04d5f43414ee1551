--TEST--
run() that is cancelled: its tasks stay, and the next run() goes on with them
--FILE--
<?php
use Async\Task\Scheduler;
use function Async\{await, delay, spawn, suspend};
use function Async\Task\waitForRead;

require __DIR__ . '/kit.inc';

[$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
$go = false;
$awaited = spawn(function() use (&$go) { while (!$go) suspend(); return 'the result'; });

$s = new Scheduler;
$s->newTask((function() use ($a) { yield waitForRead($a); echo fgets($a); })());
$s->newTask((function() use ($awaited) { echo yield $awaited, "\n"; })());

function cancelled(Scheduler $s): void
{
    $running = spawn(function() use ($s) {
        try {
            $s->run();
        } finally {
            echo "run() is left\n";
        }
    });
    T\turns(5);
    $running->cancel();
    try {
        await($running);
    } catch (Async\CancellationException) {
        echo "cancelled\n";
    }
}
cancelled($s);
fwrite($b, "a line\n");
$go = true;
T\turns(5);
$s->run();

echo "-- between rounds\n";
$stop = false;
$s->newTask((function() use (&$stop) { while (!$stop) yield; })());
cancelled($s);
$stop = true;
$s->run();

echo "-- in a blocking call of a task, which ends by it\n";
$s->newTask((function() { try { delay(600_000); } finally { echo "finally\n"; } yield; })());
$s->newTask((function() { yield; echo "the other task\n"; })());
cancelled($s);
$s->run();
?>
--EXPECT--
run() is left
cancelled
a line
the result
-- between rounds
run() is left
cancelled
-- in a blocking call of a task, which ends by it
finally
run() is left
cancelled
the other task
