--TEST--
GEN-2 Calls of generators that are deep, and very many tasks: no stack is used
--INI--
memory_limit=1G
--FILE--
<?php
use Async\Task\{Scheduler, Task};
use function Async\await;
use function Async\Task\killTask;

require __DIR__ . '/kit.inc';

function deep(int $n): Generator
{
    return $n === 0 ? yield : 1 + yield deep($n - 1);
}

$s = new Scheduler;
$task = new Task(1, deep(50_000));
$s->schedule($task);
$s->run();
var_dump(await($task));

function waiting(int $n): Generator
{
    yield $n === 0 ? Async\timeout(600_000) : waiting($n - 1);
}
$s->newTask(waiting(50_000));
$s->newTask((function() { yield; yield killTask(2); echo "killed\n"; yield killTask(4); echo "killed again\n"; })());
$s->newTask(waiting(50_000));
$s->run();

function thrown(int $n): Generator
{
    yield $n === 0 ? throw new LogicException('from the depth') : thrown($n - 1);
}
try {
    $s = new Scheduler;
    $thrown = new Task(1, thrown(50_000));
    $s->schedule($thrown);
    Async\spawn($s->run(...));
    await($thrown);
} catch (LogicException $e) {
    echo said($e), "\n";
}
function counted(int &$sum): Generator
{
    yield;
    $sum++;
}
$s = new Scheduler;
$sum = 0;
$n = 100_000;
$before = memory_get_usage();
for ($i = 0; $i < $n; $i++) $s->newTask(counted($sum));
var_dump((memory_get_usage() - $before) / $n < 1024);
$s->run();
var_dump($sum);
?>
--EXPECT--
int(50000)
killed
killed again
LogicException: from the depth
bool(true)
int(100000)
