--TEST--
PRIM-1 Channel: nothing is lost or delivered twice when who waits is cancelled, at whatever time
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\Channel;
use function Async\{await, currentCoroutine, protect, spawn, suspend};

// cancelled while it waits: it is not served any more
$c = new Channel;
$receivers = [spawn(fn() => $c->recv()), spawn(fn() => $c->recv())];
T\begun(...$receivers);
$receivers[0]->cancel();
$c->send('for the second');
attempt('first', fn() => await($receivers[0]));
attempt('second', fn() => await($receivers[1]));

// cancelled after it was given the value, before it runs: the next one gets it
$receivers = [spawn(fn() => $c->recv()), spawn(fn() => $c->recv())];
T\begun(...$receivers);
$c->trySend('passed on');
$receivers[0]->cancel();
attempt('first', fn() => await($receivers[0]));
attempt('second', fn() => await($receivers[1]));

// there is no next one: it stays in the channel, before what comes later, even without capacity
foreach ([0, 2] as $capacity) {
    $c = new Channel($capacity);
    $receivers = [spawn(fn() => $c->recv()), spawn(fn() => $c->recv()), spawn(fn() => $c->recv())];
    T\begun(...$receivers);
    foreach (['a', 'b', 'c'] as $value) {
        $c->trySend($value);
    }
    foreach ([1, 2, 0] as $at) {
        $receivers[$at]->cancel();
    }
    T\ended(...$receivers);
    echo 'count ', count($c), ', empty ', var_export($c->isEmpty(), true), ', full ', var_export($c->isFull(), true), "\n";
    $later = spawn(fn() => $c->send('d'));
    T\begun($later);
    attempt('in order', fn() => [$c->recv(), $c->recv(), $c->tryRecv(), $c->recv(), $c->tryRecv()]);
}
// also through close()
$c = new Channel;
$receiver = spawn(fn() => $c->recv());
T\begun($receiver);
$c->trySend('kept');
$receiver->cancel();
$c->close();
T\ended($receiver);
attempt('after close', fn() => $c->recv());
attempt('then', fn() => $c->recv());

// a sender that is cancelled while it waits takes its value with it
$c = new Channel;
$senders = [spawn(fn() => $c->send('not sent')), spawn(fn() => $c->send('sent'))];
T\begun(...$senders);
$senders[0]->cancel();
attempt('received', fn() => $c->recv());
attempt('first', fn() => await($senders[0]));
attempt('second', fn() => await($senders[1]));

// one whose value was received has sent it, and is cancelled at its next wait
$went = [];
$sender = spawn(function() use ($c, &$went) {
    $c->send('received');
    $went[] = 'send() has returned';
    suspend();
    $went[] = 'not reached';
});
T\begun($sender);
attempt('received', fn() => $c->recv());
$sender->cancel();
attempt('sender', fn() => await($sender));
echo implode(', ', $went), "\n";

// cancelled before the wait, and in protect()
$c = new Channel;
$early = spawn(function() use ($c) {
    currentCoroutine()->cancel();
    return $c->recv();
});
attempt('cancelled before', fn() => await($early));
$protected = spawn(function() use ($c, &$got) { protect(function() use ($c, &$got) { $got = $c->recv(); }); return 'not reached'; });
T\begun($protected);
$protected->cancel();
$c->send('in protect()');
attempt('protected', fn() => await($protected));
echo $got, "\n";
?>
--EXPECTF--
first: Async\CancellationException: cancelled at %s:10
second: "for the second"
first: Async\CancellationException: cancelled at %s:19
second: "passed on"
count 3, empty false, full true
in order: ["a","b","c","d",null]
count 3, empty false, full true
in order: ["a","b","c","d",null]
after close: "kept"
then: Async\ChannelException: The channel is closed
received: "sent"
first: Async\CancellationException: cancelled at %s:55
second: null
received: "received"
sender: Async\CancellationException: cancelled at %s:70
send() has returned
cancelled before: Async\CancellationException: cancelled at %s:77
protected: Async\CancellationException: cancelled at %s:83
in protect()
