--TEST--
A task belongs to one scheduler, a generator to one task; run() is active once; schedulers nest and run side by side
--INI--
async.seed=0
--FILE--
<?php
use Async\Task\{Scheduler, Task};
use function Async\{await, spawn};

require __DIR__ . '/kit.inc';

function refused(callable $what): void
{
    try {
        $what();
        echo "WRONG: done\n";
    } catch (Error $e) {
        echo said($e), "\n";
    }
}

function generator(string $name): Generator
{
    yield;
    echo "$name\n";
}

$a = new Scheduler;
$b = new Scheduler;
$task = new Task(1, generator('of a'));
$a->schedule($task);
refused(fn() => $b->schedule($task));
refused(fn() => $b->waitForRead(STDIN, $task));
refused(fn() => $a->schedule(new Task(1, generator(''))));
$b->schedule(new Task(1, generator('of b')));
$a->run();
$b->run();
$b->schedule($task); // it has ended

$generator = generator('twice');
$a->newTask($generator);
refused(fn() => $b->newTask($generator));
refused(fn() => new Task(7, $generator));
$a->run();
$generator = (function() use (&$generator) { try { yield $generator; } catch (Error $e) { echo 'itself: ', said($e), "\n"; } })();
$a->newTask($generator);
$a->run();

echo "-- run() within run()\n";
$a->newTask((function() use ($a) {
    refused(fn() => $a->run());
    refused(fn() => await(spawn(fn() => $a->run())));
    $inner = new Scheduler;
    $inner->newTask(generator('the inner one'));
    $inner->run();
    yield;
    echo "the outer one\n";
})());
$a->run();

echo "-- in two coroutines, for each other\n";
$go = Async\timeout(1);
$ofB = new Task(10, (function() use ($go) { yield $go; return 'the result of b'; })());
$b->schedule($ofB);
$a->newTask((function() use ($ofB) { echo yield $ofB, "\n"; })());
$both = [spawn($a->run(...)), spawn($b->run(...))];
array_map(Async\await(...), $both);

echo "-- tasks that are added and killed while run() waits\n";
$waits = spawn($a->run(...));
$id = $a->newTask((function() { yield Async\timeout(600_000); })());
T\turns(3);
$a->newTask(generator('added'));
T\turns(5);
var_dump($a->killTask($id));
await($waits);
?>
--EXPECT--
Error: The task belongs to another scheduler
Error: The task belongs to another scheduler
Error: The scheduler has another task with the id 1
of a
of b
Error: This generator belongs to a task already
Error: This generator belongs to a task already
twice
itself: Error: This generator belongs to a task already
-- run() within run()
Error: run() of this scheduler is active already
Error: run() of this scheduler is active already
the inner one
the outer one
-- in two coroutines, for each other
the result of b
-- tasks that are added and killed while run() waits
added
bool(true)
