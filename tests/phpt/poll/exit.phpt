--TEST--
After an exit in another coroutine, a shutdown function may wait by the Async\Poll that a coroutine was waiting by
--FILE--
<?php
require __DIR__ . '/kit.inc';
use function Async\{await, spawn};

$poll = new Async\Poll;
[$a, $b] = pair();
$poll->watchRead($a);
$waiter = spawn($poll->wait(...));
T\parked($waiter);
var_dump($poll->isWaiting());
register_shutdown_function(function() use ($poll, $a, $b) {
    var_dump($poll->isWaiting());
    echo found($poll->wait(0), ['a' => $a]), "\n";
    fwrite($b, 'x');
    echo found($poll->wait(), ['a' => $a]), "\n";
});
await(spawn(fn() => exit(0)));
?>
--EXPECT--
bool(true)
bool(false)
read [] write [] signals []
read [a] write [] signals []
