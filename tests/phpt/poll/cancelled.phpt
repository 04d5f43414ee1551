--TEST--
A wait of Async\Poll that is cancelled loses nothing, and another one can follow, also in the child of a fork
--SKIPIF--
<?php extension_loaded('pcntl') || die('skip pcntl is missing');
--FILE--
<?php
require __DIR__ . '/kit.inc';
use function Async\{spawn, await};

[$a, $b] = pair();
$names = ['a' => $a];
$poll = new Async\Poll;
$poll->watchRead($a);
$waiter = spawn(fn() => $poll->wait());
T\parked($waiter);
$waiter->cancel();
echo refused(fn() => await($waiter)) !== '' ? "cancelled\n" : '';
fwrite($b, 'x');
echo found($poll->wait(), $names), "\n";
fread($a, 1);

// Cancelled when it was ready already.
$waiter = spawn(fn() => $poll->wait());
T\parked($waiter);
fwrite($b, 'x');
$waiter->cancel();
try {
    await($waiter);
} catch (Async\CancellationException) {
    echo "cancelled\n";
}
echo found($poll->wait(), $names), "\n";

// In a cancelled coroutine that goes on.
$waiter = spawn(function() use ($poll, $names) {
    try {
        $poll->unwatchRead(current($names));
        $poll->wait(INF);
    } catch (Async\CancellationException) {
        $poll->watchRead(current($names));
        return found($poll->wait(), $names);
    }
});
T\parked($waiter);
$waiter->cancel();
T\ended($waiter);
echo found($poll->wait(), $names), "\n";
fread($a, 1);

// A fork in another coroutine than that which waits, and then in the one that has waited.
foreach ([true, false] as $waits) {
    if ($waits) {
        $waiter = spawn(fn() => found($poll->wait(), $names));
        T\parked($waiter);
    }
    $child = pcntl_fork();
    if ($child === 0) {
        fwrite($b, 'x');
        echo 'child: ', found($poll->wait(), $names), "\n";
        fread($a, 1);
        echo 'child: ', found($poll->wait(0), $names), "\n";
        $poll->wake();
        $poll->unwatchRead($a);
        echo 'child: ', found($poll->wait(), $names), "\n";
        exit(0);
    }
    pcntl_waitpid($child, $status);
    fwrite($b, 'y');
    echo 'parent: ', $waits ? await($waiter) : found($poll->wait(), $names), "\n";
    fread($a, 1);
}
?>
--EXPECT--
cancelled
read [a] write [] signals []
cancelled
read [a] write [] signals []
read [a] write [] signals []
child: read [a] write [] signals []
child: read [] write [] signals []
child: read [] write [] signals []
parent: read [a] write [] signals []
child: read [a] write [] signals []
child: read [] write [] signals []
child: read [] write [] signals []
parent: read [a] write [] signals []
