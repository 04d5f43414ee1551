--TEST--
PRIM-1 select(): receives, sends and awaits; the key and the result of the one operation that was carried out
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{Channel, CoroutineGroup, Future, FutureState};
use function Async\{await, select, spawn, suspend, timeout, trySelect};

$a = new Channel(1);
$b = new Channel(1);
$a->send('from a');
attempt('receive', fn() => select([$a, $b]));
attempt('by name', fn() => select(['b' => $b, 'send' => [$a, 'to a']]));
attempt('it was sent', fn() => $a->recv());
attempt('wait to receive', function() use ($a, $b) { spawn(fn() => $b->send('later')); return select(['a' => $a, 'b' => $b]); });
attempt('and then', fn() => trySelect(['a' => $a, 'b' => $b]));
$none = new Channel;
attempt('wait to send', function() use ($none, $b) { $got = spawn(fn() => $none->recv()); return [select([5 => [$none, 'sent'], 6 => $b]), await($got)]; });
attempt('to one that waits', function() use ($none) { $got = spawn(fn() => $none->recv()); T\begun($got); return [select([[$none, 'at once']]), await($got)]; });
attempt('from one that waits', function() use ($none) { $sent = spawn(fn() => $none->send('at once')); T\begun($sent); return [select([$none]), await($sent)]; });
attempt('two selects', function() use ($none) {
    $other = spawn(fn() => select(['out' => [$none, 'from the other']]));
    return [select(['in' => $none]), await($other)];
});
attempt('both directions of one channel', function() use ($none) {
    $other = spawn(fn() => $none->send('x'));
    return select(['in' => $none, 'out' => [$none, 'y']]);
});
attempt('it does not meet itself', fn() => trySelect(['in' => $none, 'out' => [$none, 'y']]));
attempt('coroutine', fn() => select(['c' => spawn(fn() => 'its result'), 'a' => $a]));
attempt('that fails', fn() => select(['c' => spawn(fn() => throw new LogicException('its failure')), 'a' => $a]));
attempt('future', fn() => select([Future::completed('at once')]));
attempt('failed future', fn() => select([Future::failed(new LogicException('at once'))]));
attempt('group', function() { $group = new CoroutineGroup; $group->spawn(fn() => 1); return select(['group' => $group]); });
attempt('timeout', fn() => select(['t' => timeout(1), 'a' => $a]));
attempt('reference', function() use ($b) { $b->send('r'); $x = [&$b]; return select($x); });
attempt('pair with a reference', function() use ($b) { $v = 'by reference'; $pair = [$b, &$v]; return [select([$pair]), $b->recv()]; });

$closed = new Channel;
$closed->close(new LogicException('why'));
attempt('closed', fn() => select([$closed, $a]));
attempt('closed to send', fn() => select([[$closed, 1]]));
attempt('closed meanwhile', function() use ($a) { $c = new Channel; spawn(fn() => $c->close()); return select([$a, $c]); });
attempt('closed meanwhile to send', function() use ($a) { $c = new Channel; spawn(fn() => $c->close()); return select([$a, [$c, 1]]); });
attempt('token', fn() => select([$a, [$none, 1]], timeout(1)));
attempt('complete token', fn() => select([$a], Future::completed(1)));
attempt('complete token and a value', function() use ($a) { $a->send('v'); return select([$a], Future::completed(1)); });
attempt('a token that is an operation', function() use ($a) { $f = new Future($s = new FutureState); spawn(fn() => $s->complete('f')); return select([$f, $a], $f); });
attempt('nothing was left behind', fn() => [$a->count(), $none->tryRecv(), $none->trySend('nobody')]);

attempt('no operation', fn() => select([]));
attempt('a number', fn() => select([5]));
attempt('an object', fn() => select([new stdClass]));
attempt('one too much', fn() => select([[$a, 1, 2]]));
attempt('no channel', fn() => select([[1, $a]]));
attempt('by names', fn() => select([['channel' => $a, 'value' => 1]]));
attempt('itself', fn() => select([Async\currentCoroutine(), $none]));
attempt('trySelect', fn() => [trySelect([$none, [$none, 1]]), trySelect(operations: ['x' => [$a, 1]]), trySelect(['y' => $a])]);
attempt('trySelect of none', fn() => trySelect([]));
attempt('trySelect of a closed one', fn() => trySelect([$closed]));
?>
--EXPECT--
receive: [0,"from a"]
by name: ["send",null]
it was sent: "to a"
wait to receive: ["b","later"]
and then: null
wait to send: [[5,null],"sent"]
to one that waits: [[0,null],"at once"]
from one that waits: [[0,"at once"],null]
two selects: [["in","from the other"],["out",null]]
both directions of one channel: ["in","x"]
it does not meet itself: null
coroutine: ["c","its result"]
that fails: LogicException: its failure
future: [0,"at once"]
failed future: LogicException: at once
group: ["group",[1]]
timeout: ["t",null]
reference: [0,"r"]
pair with a reference: [[0,null],"by reference"]
closed: Async\ChannelException: The channel is closed after LogicException: why
closed to send: Async\ChannelException: The channel is closed after LogicException: why
closed meanwhile: Async\ChannelException: The channel is closed
closed meanwhile to send: Async\ChannelException: The channel is closed
token: Async\TimeoutException: The wait was given up after 1 ms
complete token: Async\AwaitCancelledException: The wait was cancelled by its token
complete token and a value: [0,"v"]
a token that is an operation: [0,"f"]
nothing was left behind: [0,null,false]
no operation: ValueError: Async\select(): Argument #1 ($operations) must contain at least one operation
a number: TypeError: Async\select(): Argument #1 ($operations) must contain channels to receive from, arrays of a channel and a value to send, and awaitables only
an object: TypeError: Async\select(): Argument #1 ($operations) must contain channels to receive from, arrays of a channel and a value to send, and awaitables only
one too much: TypeError: Async\select(): Argument #1 ($operations) must contain channels to receive from, arrays of a channel and a value to send, and awaitables only
no channel: TypeError: Async\select(): Argument #1 ($operations) must contain channels to receive from, arrays of a channel and a value to send, and awaitables only
by names: TypeError: Async\select(): Argument #1 ($operations) must contain channels to receive from, arrays of a channel and a value to send, and awaitables only
itself: Async\AsyncException: A coroutine cannot await itself. Coroutine spawned at {main}
trySelect: [null,["x",null],["y",1]]
trySelect of none: ValueError: Async\trySelect(): Argument #1 ($operations) must contain at least one operation
trySelect of a closed one: Async\ChannelException: The channel is closed after LogicException: why
