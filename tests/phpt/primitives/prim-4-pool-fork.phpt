--TEST--
In the child of a fork the things of a pool belong to the parent: none is used, destroyed or waited for there
--EXTENSIONS--
pcntl
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\Pool;
use function Async\{await, delay, spawn, suspend};

class Thing { public int $pid; function __construct() { $this->pid = getmypid(); } function __destruct() { if ($this->pid !== getmypid()) echo "destroyed in the child\n"; } }
$pool = new Pool(fn() => new Thing, function() { echo "destroyed\n"; }, max: 2);
$free = $pool->acquire();
$other = spawn(function() use ($pool) { $thing = $pool->acquire(); delay(100000); });
T\begun($other);
$pool->release($free);
$free = null;
$pid = pcntl_fork();
if ($pid === 0) {
    T\check('all places are free', count($pool) === 0 && $pool->activeCount() === 0);
    $things = [$pool->acquire(), $pool->acquire()];
    T\check('they are its own', $things[0]->pid === getmypid() && $things[1]->pid === getmypid());
    exit(5);
}
pcntl_waitpid($pid, $status);
echo pcntl_wexitstatus($status), "\n";
T\check('the parent has its things', count($pool) === 2 && $pool->acquire()->pid === getmypid());
$other->cancel();
?>
--EXPECT--
all places are free: yes
they are its own: yes
5
the parent has its things: yes
