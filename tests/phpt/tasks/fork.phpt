--TEST--
Tasks in the child of a fork: their waits go on in both processes
--FILE--
<?php
use Async\Task\Scheduler;
use function Async\timeout;
use function Async\Task\waitForRead;

require __DIR__ . '/kit.inc';

$parent = getmypid();
function here(): string
{
    return getmypid() === $GLOBALS['parent'] ? 'the parent' : 'the child';
}

$s = new Scheduler;
[$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
$forked = false;
$s->newTask((function() use (&$forked) {
    yield;
    yield;
    $pid = pcntl_fork();
    if ($pid) pcntl_waitpid($pid, $status);
    $forked = true;
})());
$s->newTask((function() use ($a) {
    yield waitForRead($a);
    echo here(), ' reads ', fread($a, 1), "\n";
})());
$s->newTask((function() use ($b, &$forked) {
    while (!$forked) yield;
    yield timeout(1);
    fwrite($b, 'x');
})());
$s->run();
echo here(), " has ended\n";
?>
--EXPECT--
the child reads x
the child has ended
the parent reads x
the parent has ended
