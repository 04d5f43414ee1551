--TEST--
A stream that another process reads from is not ready for ever in Async\Poll, though its last event said that it is
--EXTENSIONS--
pcntl
--INI--
async.seed=0
--FILE--
<?php
require __DIR__ . '/kit.inc';

[$a, $b] = pair();
[$ask, $told] = pair();
$poll = new Async\Poll;
if (!($child = pcntl_fork())) {
    // Reads what the parent's event loop has seen, each time it is told to.
    while (fread($ask, 1) === 'r') {
        fread($a, 8192);
        fwrite($ask, 'd');
    }
    exit(0);
}
$poll->watchRead($a);
$unread = function () use ($poll, $a): array {
    return array_map(fn() => count($poll->wait(0)[0]), range(1, 4));
};
for ($round = 0; $round < 3; $round++) {
    $waiter = Async\spawn(fn() => $poll->wait());
    T\parked($waiter);
    fwrite($b, 'x');
    echo count(Async\await($waiter)[0]), ' and while it is unread ', implode(' ', $unread()), "\n";
    fwrite($told, 'r');
    fread($told, 1);
    // What it was last seen as may be returned once more.
    echo 'read by another ', implode(' ', array_slice($unread(), 1)), "\n";
}
fwrite($told, 'q');
pcntl_waitpid($child, $status);
echo "ended\n";
?>
--EXPECT--
1 and while it is unread 1 1 1 1
read by another 0 0 0
1 and while it is unread 1 1 1 1
read by another 0 0 0
1 and while it is unread 1 1 1 1
read by another 0 0 0
ended
