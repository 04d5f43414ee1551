--TEST--
PRIM-1 Channel: tokens at both ends; what is given up neither sends nor receives
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{Channel, Future, FutureState};
use function Async\{await, spawn, suspend, timeout};

$c = new Channel;
attempt('recv', fn() => $c->recv(timeout(1)));
attempt('send', fn() => $c->send('lost', timeout(1)));
attempt('nothing', fn() => [$c->count(), $c->tryRecv(), $c->trySend('x')]);
$complete = Future::completed(1);
attempt('complete before', fn() => $c->recv($complete));
attempt('complete before', fn() => $c->send(1, $complete));
attempt('failed before', fn() => $c->recv(Future::failed(new Exception('of the token'))));
$state = new FutureState;
spawn(fn() => $state->error(new Exception('of the token')));
attempt('fails meanwhile', fn() => $c->recv(new Future($state)));
attempt('a coroutine', fn() => $c->recv(spawn(fn() => 1)));
attempt('that fails', fn() => $c->recv(spawn(fn() => throw new Exception('of the coroutine'))));

// a token that is complete does not matter where nothing has to wait
$c = new Channel(1);
attempt('no wait', function() use ($c, $complete) { $c->send('at once', $complete); return $c->recv($complete); });

// the value and the token in one turn, in both orders: the value counts if it was handed over first
foreach (['value first', 'token first'] as $order) {
    $c = new Channel;
    $state = new FutureState;
    $receiver = spawn(fn() => $c->recv(new Future($state)));
    T\begun($receiver);
    $sent = null;
    $acts = ['value first' => function() use ($c, &$sent) { $sent = $c->trySend('value'); }, 'token first' => fn() => $state->complete()];
    $acts[$order]();
    array_map(fn($act) => $act(), array_diff_key($acts, [$order => 1]));
    attempt($order, fn() => await($receiver));
    echo 'sent: ', var_export($sent, true), "\n";
}
// the same for a sender
foreach (['taken first', 'token first'] as $order) {
    $c = new Channel;
    $state = new FutureState;
    $sender = spawn(fn() => $c->send('value', new Future($state)));
    T\begun($sender);
    $acts = ['taken first' => function() use ($c, &$got) { $got = $c->tryRecv(); }, 'token first' => fn() => $state->complete()];
    $acts[$order]();
    array_map(fn($act) => $act(), array_diff_key($acts, [$order => 1]));
    attempt($order, fn() => await($sender));
    echo 'received: ', var_export($got, true), "\n";
}
?>
--EXPECT--
recv: Async\TimeoutException: The wait was given up after 1 ms
send: Async\TimeoutException: The wait was given up after 1 ms
nothing: [0,null,false]
complete before: Async\AwaitCancelledException: The wait was cancelled by its token
complete before: Async\AwaitCancelledException: The wait was cancelled by its token
failed before: Async\AwaitCancelledException: The wait was cancelled by its token after Exception: of the token
fails meanwhile: Async\AwaitCancelledException: The wait was cancelled by its token after Exception: of the token
a coroutine: Async\AwaitCancelledException: The wait was cancelled by its token
that fails: Async\AwaitCancelledException: The wait was cancelled by its token after Exception: of the coroutine
no wait: "at once"
value first: "value"
sent: true
token first: Async\AwaitCancelledException: The wait was cancelled by its token
sent: false
taken first: null
received: 'value'
token first: Async\AwaitCancelledException: The wait was cancelled by its token
received: NULL
