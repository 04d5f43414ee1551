--TEST--
PRIM-1 Channel: closing wakes all who wait, leaves what is buffered, and says why
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\Channel;
use function Async\{await, select, spawn};

$why = new LogicException('why');
foreach ([null, $why] as $reason) {
    $c = new Channel;
    $receivers = [];
    for ($i = 0; $i < 3; $i++) {
        $receivers[] = spawn(fn() => $c->recv());
    }
    $receivers[] = spawn(function() use ($c) { foreach ($c as $value); return 'the iteration ends'; });
    $receivers[] = spawn(fn() => select([$c]));
    T\begun(...$receivers);
    $c->close($reason);
    foreach ($receivers as $receiver) {
        attempt('receiver', fn() => await($receiver));
    }

    $c = new Channel(2);
    $c->send('one');
    $c->send('two');
    $senders = [spawn(fn() => $c->send('three')), spawn(fn() => select([[$c, 'four']]))];
    T\begun(...$senders);
    $c->close($reason);
    foreach ($senders as $sender) {
        attempt('sender', fn() => await($sender));
    }
    attempt('buffered', fn() => [$c->recv(), count($c), select([$c]), $c->isEmpty()]);
    attempt('then', fn() => $c->recv());
    attempt('iteration', fn() => iterator_to_array($c));
}
try {
    $c->recv();
} catch (Async\ChannelException $e) {
    echo 'the same object: ', var_export($e->getPrevious() === $why, true), "\n";
}
try {
    $c->recv();
} catch (Async\ChannelException $again) {
    echo 'one exception for each: ', var_export($e !== $again && $again->getPrevious() === $why, true), "\n";
}

// who is woken by the end runs after the one that closes, and finds what it finds then
$c = new Channel(1);
$receiver = spawn(fn() => $c->recv());
T\begun($receiver);
$c->send('before the end');
$c->close();
attempt('given before', fn() => await($receiver));
?>
--EXPECT--
receiver: Async\ChannelException: The channel is closed
receiver: Async\ChannelException: The channel is closed
receiver: Async\ChannelException: The channel is closed
receiver: "the iteration ends"
receiver: Async\ChannelException: The channel is closed
sender: Async\ChannelException: The channel is closed
sender: Async\ChannelException: The channel is closed
buffered: ["one",1,[0,"two"],true]
then: Async\ChannelException: The channel is closed
iteration: []
receiver: Async\ChannelException: The channel is closed after LogicException: why
receiver: Async\ChannelException: The channel is closed after LogicException: why
receiver: Async\ChannelException: The channel is closed after LogicException: why
receiver: Async\ChannelException: The channel is closed after LogicException: why
receiver: Async\ChannelException: The channel is closed after LogicException: why
sender: Async\ChannelException: The channel is closed after LogicException: why
sender: Async\ChannelException: The channel is closed after LogicException: why
buffered: ["one",1,[0,"two"],true]
then: Async\ChannelException: The channel is closed after LogicException: why
iteration: Async\ChannelException: The channel is closed after LogicException: why
the same object: true
one exception for each: true
given before: "before the end"
