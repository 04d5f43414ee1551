--TEST--
A wait of Async\Poll ends by wake(), and when its last watch is removed, and heeds watches that other coroutines add
--FILE--
<?php
require __DIR__ . '/kit.inc';
use function Async\{spawn, await};

[$a, $b] = pair();
[$c, $d] = pair();
$names = ['a' => $a, 'c' => $c];

$poll = new Async\Poll;
$poll->wake();
$poll->wake();
echo 'woken before: ', found($poll->wait(), $names), "\n";
echo 'once: ', T\php('
    $poll = new Async\Poll;
    $poll->wake();
    $poll->wait();
    try {
        $poll->wait();
    } catch (Async\DeadlockError $e) {
        echo get_class($e), "\n";
    }
')->has('Warning: Deadlock', "\nAsync\DeadlockError\n") ? "a deadlock\n" : "?\n";

$poll = new Async\Poll;
spawn(fn() => $poll->wake());
echo 'woken without a watch: ', found($poll->wait(), $names), "\n";
$poll->watchRead($a);
spawn(fn() => $poll->wake());
echo 'woken: ', found($poll->wait(), $names), "\n";

$waiter = spawn(fn() => found($poll->wait(), $names));
T\parked($waiter);
$poll->unwatchRead($a);
echo 'the last stream is removed: ', await($waiter), "\n";

$poll->watchSignal(SIGUSR1);
$poll->watchRead($a);
$waiter = spawn(fn() => found($poll->wait(), $names));
T\parked($waiter);
$poll->unwatchRead($a);
T\turns(3);
echo 'the signal is left: ', json_encode($waiter->isCompleted()), "\n";
$poll->unwatchSignal(SIGUSR1);
echo 'it is removed: ', await($waiter), "\n";

fwrite($b, 'x');
fwrite($d, 'x');
$waiter = spawn(fn() => found($poll->wait(), $names));
spawn(fn() => $poll->watchRead($a));
echo 'a stream is added: ', await($waiter), "\n";
fread($a, 1);
$waiter = spawn(fn() => found($poll->wait(), $names));
T\parked($waiter);
$poll->watchRead($c);
echo 'another: ', await($waiter), "\n";

// Removed and added again while it waits.
fread($c, 1);
$waiter = spawn(fn() => found($poll->wait(), $names));
T\parked($waiter);
$poll->unwatchRead($a);
$poll->watchRead($a);
T\turns(3);
fwrite($b, 'x');
echo 'added again: ', await($waiter), "\n";

// The coroutine that removes the last one is the last one to run.
$poll = new Async\Poll;
$poll->watchRead($c);
$waiter = spawn(function() use ($poll, $names) {
    echo 'at the end: ', found($poll->wait(), $names), "\n";
});
spawn(function() use ($poll, $waiter, $c) {
    T\parked($waiter);
    $poll->unwatchRead($c);
});
?>
--EXPECT--
woken before: read [] write [] signals []
once: a deadlock
woken without a watch: read [] write [] signals []
woken: read [] write [] signals []
the last stream is removed: read [] write [] signals []
the signal is left: false
it is removed: read [] write [] signals []
a stream is added: read [a] write [] signals []
another: read [c] write [] signals []
added again: read [a] write [] signals []
at the end: read [] write [] signals []
