--TEST--
PRIM-1 Channel: what each method returns, empty, full, closed, with and without capacity
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\Channel;

$show = fn(Channel $c) => json_encode([$c->count(), count($c), $c->capacity(), $c->isEmpty(), $c->isFull(), $c->isClosed()]);
foreach ([0, 2] as $capacity) {
    $c = new Channel(capacity: $capacity);
    echo "capacity $capacity: ", $show($c), "\n";
    attempt('tryRecv', fn() => $c->tryRecv());
    attempt('trySend', fn() => [$c->trySend('a'), $c->trySend(value: 'b'), $c->trySend('c')]);
    echo $show($c), "\n";
    attempt('tryRecv', fn() => [$c->tryRecv(), $c->tryRecv(), $c->tryRecv()]);
    attempt('close', fn() => $c->close());
    attempt('close again', fn() => $c->close(new Exception('too late')));
    echo $show($c), "\n";
    attempt('trySend', fn() => $c->trySend('d'));
    attempt('tryRecv', fn() => $c->tryRecv());
    attempt('send', fn() => $c->send(value: 'e', cancellation: null));
    attempt('recv', fn() => $c->recv(cancellation: null));
}
$c = new Channel(3);
$c->send(null);
$c->send(false);
$c->send($c);
attempt('null', fn() => $c->recv());
attempt('false', fn() => $c->tryRecv());
attempt('itself', fn() => $c->recv() === $c);
attempt('negative', fn() => new Channel(-1));
attempt('no integer', fn() => new Channel('many'));
attempt('send nothing', fn() => $c->send());
attempt('no token', fn() => $c->send(1, 5));
attempt('not awaitable', fn() => $c->recv($c));
attempt('unknown name', fn() => $c->recv(timeout: null));
attempt('no reason', fn() => $c->close('a string'));
attempt('too many', fn() => $c->tryRecv(1));
?>
--EXPECT--
capacity 0: [0,0,0,true,true,false]
tryRecv: null
trySend: [false,false,false]
[0,0,0,true,true,false]
tryRecv: [null,null,null]
close: null
close again: null
[0,0,0,true,true,true]
trySend: false
tryRecv: null
send: Async\ChannelException: The channel is closed
recv: Async\ChannelException: The channel is closed
capacity 2: [0,0,2,true,false,false]
tryRecv: null
trySend: [true,true,false]
[2,2,2,false,true,false]
tryRecv: ["a","b",null]
close: null
close again: null
[0,0,2,true,false,true]
trySend: false
tryRecv: null
send: Async\ChannelException: The channel is closed
recv: Async\ChannelException: The channel is closed
null: null
false: false
itself: true
negative: ValueError: Async\Channel::__construct(): Argument #1 ($capacity) must not be negative
no integer: TypeError: Async\Channel::__construct(): Argument #1 ($capacity) must be of type int, string given
send nothing: ArgumentCountError: Async\Channel::send() expects at least 1 argument, 0 given
no token: TypeError: Async\Channel::send(): Argument #2 ($cancellation) must be of type ?Async\Awaitable, int given
not awaitable: TypeError: Async\Channel::recv(): Argument #1 ($cancellation) must be of type ?Async\Awaitable, Async\Channel given
unknown name: Error: Unknown named parameter $timeout
no reason: TypeError: Async\Channel::close(): Argument #1 ($reason) must be of type ?Throwable, string given
too many: ArgumentCountError: Async\Channel::tryRecv() expects exactly 0 arguments, 1 given
