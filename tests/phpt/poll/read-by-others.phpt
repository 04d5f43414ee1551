--TEST--
Data that another coroutine has moved to a stream's buffer is found by a wait of Async\Poll that had registered the stream
--INI--
async.seed=0
--FILE--
<?php
require __DIR__ . '/kit.inc';
use function Async\{spawn, await};

// In a coroutine that was told to read before the event loop has seen that the data came.
$poll = new Async\Poll;
[$a, $b] = pair();
$poll->watchRead($a);
$names = ['a' => $a];
echo found($poll->wait(0), $names), "\n";
spawn(function() use ($a, $b) {
    fwrite($b, "one\ntwo\n");
    echo fgets($a);
});
echo found($poll->wait(), $names), "\n", fgets($a);

// The same by the loop's own code, between two waits.
echo found($poll->wait(0), $names), "\n";
fwrite($b, "three\nfour\n");
echo fgets($a), found($poll->wait(), $names), "\n", fgets($a);

// And for a task of the generators' scheduler.
$s = new Async\Task\Scheduler;
$s->newTask((function() use ($a) {
    yield Async\Task\waitForRead($a);
    echo 'a task reads ', fgets($a);
})());
spawn(function() use ($a, $b) {
    fwrite($b, "five\nsix\n");
    echo fgets($a);
});
$s->run();

// A coroutine that waited before takes all that has come: there is nothing for the poll.
$reader = spawn(fn() => fread($a, 100));
T\parked($reader);
$waiter = spawn(fn() => found($poll->wait(), $names));
T\parked($waiter);
fwrite($b, 'six');
echo await($reader), "\n";
T\parked($waiter);
echo $waiter->isCompleted() ? "WRONG: reported\n" : "waits on\n";
fwrite($b, 'seven');
echo await($waiter), "\n", fread($a, 100), "\n";
?>
--EXPECT--
read [] write [] signals []
one
read [a] write [] signals []
two
read [] write [] signals []
three
read [a] write [] signals []
four
five
a task reads six
six
waits on
read [a] write [] signals []
seven
