--TEST--
PRIM-1 select(): nothing is lost or delivered twice when it is cancelled, at whatever time
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{Channel, Future, FutureState};
use function Async\{await, select, spawn, suspend};

foreach (['receives only' => false, 'with a send' => true] as $what => $sends) {
    echo "$what\n";
    $in = new Channel;
    $out = new Channel;
    $make = fn() => spawn(fn() => select(['in' => $in] + ($sends ? ['out' => [$out, 'value']] : [])));
    // while it waits
    T\begun($one = $make());
    $one->cancel();
    attempt('cancelled', fn() => await($one));
    attempt('it is gone', fn() => [$in->trySend('x'), $out->tryRecv()]);
    // after it was given a value
    T\begun($one = $make());
    T\begun($two = spawn(fn() => $in->recv()));
    $in->trySend('goes to the next');
    $one->cancel();
    attempt('cancelled', fn() => await($one));
    attempt('next', fn() => await($two));
    attempt('it is gone', fn() => [$in->trySend('x'), $out->tryRecv()]);
    // and nobody else wants it
    T\begun($one = $make());
    $in->trySend('stays');
    $one->cancel();
    attempt('cancelled', fn() => await($one));
    attempt('kept', fn() => $in->tryRecv());
}
// after its value was taken: it has sent it
$out = new Channel;
$after = null;
$one = spawn(function() use ($out, &$after) { $after = select(['out' => [$out, 'taken']]); suspend(); });
T\begun($one);
attempt('taken', fn() => $out->tryRecv());
$one->cancel();
attempt('cancelled later', fn() => await($one));
echo json_encode($after), "\n";

// one of two channels serves it, the other one does not
$a = new Channel;
$b = new Channel;
T\begun($one = spawn(fn() => select(['a' => $a, 'b' => $b])));
attempt('both try', fn() => [$a->trySend(1), $b->trySend(2)]);
attempt('one', fn() => await($one));
T\begun($one = spawn(fn() => select(['a' => [$a, 1], 'b' => [$b, 2]])));
attempt('both take', fn() => [$a->tryRecv(), $b->tryRecv()]);
attempt('one', fn() => await($one));
// a channel and an awaitable in one turn
foreach (['channel first', 'future first'] as $order) {
    $f = new Future($s = new FutureState);
    T\begun($one = spawn(fn() => select(['c' => $a, 'f' => $f])));
    if ($order === 'future first') $s->complete('future');
    $sent = $a->trySend('value');
    if ($order === 'channel first') $s->complete('future');
    attempt($order, fn() => [$sent, await($one)]);
}
// the value to send is released with the select
T\begun($one = spawn(fn() => select([[$a, new Probe('value to send')], $b])));
$b->send(1);
attempt('other', fn() => await($one));
unset($one);
attempt('not sent', fn() => $a->tryRecv());
?>
--EXPECTF--
receives only
cancelled: Async\CancellationException: cancelled at %s:13
it is gone: [false,null]
cancelled: Async\CancellationException: cancelled at %s:20
next: "goes to the next"
it is gone: [false,null]
cancelled: Async\CancellationException: cancelled at %s:27
kept: "stays"
with a send
cancelled: Async\CancellationException: cancelled at %s:13
it is gone: [false,null]
cancelled: Async\CancellationException: cancelled at %s:20
next: "goes to the next"
it is gone: [false,null]
cancelled: Async\CancellationException: cancelled at %s:27
kept: "stays"
taken: "taken"
cancelled later: Async\CancellationException: cancelled at %s:37
["out",null]
both try: [true,false]
one: ["a",1]
both take: [1,null]
one: ["a",null]
channel first: [true,["c","value"]]
future first: [false,["f","future"]]
freed: value to send
other: [1,1]
not sent: null
