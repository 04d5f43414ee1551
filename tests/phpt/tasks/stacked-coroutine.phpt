--TEST--
stackedCoroutine() for a Task class of user code, and within native tasks
--FILE--
<?php
use Async\Task\{Scheduler, SystemCall, Task};
use function Async\Task\{getTaskId, retval, stackedCoroutine};

require __DIR__ . '/kit.inc';

function called(int $n): Generator
{
    if ($n === 0) throw new LogicException('from below');
    try {
        $sent = yield "level $n" => $n;
        echo "level $n is sent $sent\n";
        yield called($n - 1);
    } catch (LogicException $e) {
        echo "level $n catches ", said($e), "\n";
        yield retval("result of level $n");
    }
}

function calling(): Generator
{
    echo yield called(2), "\n";
    try {
        yield 'throw here';
    } catch (LogicException $e) {
        echo said($e), "\n";
    }
    echo yield (function() { return 'by return'; yield; })(), "\n";
    return 'the end';
}

$generator = stackedCoroutine(calling());
var_dump($generator->key(), $generator->current());
var_dump($generator->send('one'));
var_dump($generator->send('two'));
$generator->throw(new LogicException('thrown in'));
var_dump($generator->valid(), $generator->getReturn());

$s = new Scheduler;
$task = new Task(1, stackedCoroutine((function() {
    return 'task ' . yield (function() { yield retval(yield getTaskId()); })();
})()));
$s->schedule($task);
$s->run();
var_dump(Async\await($task));
?>
--EXPECT--
string(7) "level 2"
int(2)
level 2 is sent one
int(1)
level 1 is sent two
level 1 catches LogicException: from below

string(10) "throw here"
LogicException: thrown in
by return
bool(false)
string(7) "the end"
string(6) "task 1"
