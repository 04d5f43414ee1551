--TEST--
A scheduler that is let go ends its tasks: in the order of their ids; what finally blocks and destructors throw is reported
--FILE--
<?php
use Async\Task\{Scheduler, Task};
use function Async\delay;

require __DIR__ . '/kit.inc';
print_reports();

function level(string $name, int $n): Generator
{
    try {
        yield from $n > 0 ? [yield level($name, $n - 1)] : [yield];
        yield Async\timeout(600_000);
    } finally {
        echo "finally of $name $n\n";
    }
}

function started(Scheduler $s): void
{
    $s->newTask((function() { yield; yield; yield; Async\currentCoroutine()->cancel(); yield Async\timeout(600_000); })());
    try {
        Async\await(Async\spawn(fn() => $s->run()));
    } catch (Async\CancellationException) {
    }
}

$s = new Scheduler;
$s->newTask(level('one', 1));
$s->newTask(level('two', 0));
$kept = new Task(50, level('one that is held', 0));
$s->schedule($kept);
started($s);
unset($s);
echo "let go\n";
var_dump($kept->isFinished());
unset($kept);

$s = new Scheduler;
$s->newTask((function() { try { $local = new Thrower('a local'); yield; yield; yield; yield; yield; } finally { throw new LogicException('of finally'); } })());
started($s);
try {
    unset($s);
    echo "goes on here\n";
    delay(600_000);
    echo "WRONG: not shut down\n";
} catch (Async\CancellationException) {
    echo "shut down\n";
}
?>
--EXPECT--
finally of one 0
finally of one 1
finally of two 0
finally of one that is held 0
let go
bool(true)
goes on here
shut down
reported: RuntimeException: destructor of a local after LogicException: of finally
