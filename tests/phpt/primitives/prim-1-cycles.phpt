--TEST--
PRIM-1 PRIM-2 cycles through channels, futures and what waits in them are collected
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{Channel, CoroutineGroup, Future, FutureState};
use function Async\{await, spawn};

$collected = function(string $what, callable $make) {
    $make(new Probe($what));
    gc_collect_cycles();
    echo "-\n";
};
$collected('buffered in itself', function(Probe $p) { $c = new Channel(2); $c->send($p); $c->send($c); });
$collected('its value refers to it', function(Probe $p) { $c = new Channel(2); $p->with = $c; $c->send($p); });
$collected('two channels', function(Probe $p) { $a = new Channel(2); $b = new Channel(1); $a->send($b); $b->send($a); $a->send($p); });
$collected('reason', function(Probe $p) {
    $c = new Channel;
    $e = new class('x') extends Exception { public $with; };
    $e->with = [$c, $p];
    $c->close($e);
});
$collected('iterator', function(Probe $p) { $c = new Channel(3); $p->with = $i = $c->getIterator(); $c->send($p); $c->send(1); });
$collected('current value of an iterator', function(Probe $p) { $c = new Channel(3); $p->with = $i = $c->getIterator(); $c->send($p); $i->rewind(); });
$collected('result of a future', function(Probe $p) { $s = new FutureState; $p->with = new Future($s); $s->complete($p); });
$collected('failure of a future', function(Probe $p) {
    $s = new FutureState;
    $e = new class('x') extends Exception { public $with; };
    $e->with = [$s, $p];
    $s->error($e);
    (new Future($s))->ignore();
});
$collected('callback of a future', function(Probe $p) { $s = new FutureState; $f = new Future($s); $p->with = $f; $f->map(fn() => $p); });
$collected('chain of futures', function(Probe $p) { $s = new FutureState; $f = new Future($s); $g = $f->map(fn($x) => $x)->finally(function() use (&$g, $p) {}); $p->with = $g; });
$collected('value of a waiting sender', function(Probe $p) {
    $c = new Channel;
    $p->with = $c;
    $sender = spawn(function() use ($c, $p) { try { $c->send($p); } catch (Async\CancellationException) {} });
    T\begun($sender);
    $sender->cancel();
    T\ended($sender);
});
$collected('value in flight', function(Probe $p) {
    $c = new Channel;
    $p->with = $c;
    $receiver = spawn(fn() => $c->recv());
    T\begun($receiver);
    $c->trySend($p);
    gc_collect_cycles();
    echo 'alive: ', var_export(await($receiver) === $p, true), "\n";
});
echo 'of a channel that is waited for: ';
$c = new Channel;
$weak = WeakReference::create($c);
$receiver = spawn(fn() => attempt('it is closed', fn() => $c->recv()));
T\begun($receiver);
unset($c);
gc_collect_cycles();
echo var_export($weak->get() !== null, true), "\n";
$weak->get()->close();
T\ended($receiver);
?>
--EXPECT--
freed: buffered in itself
-
freed: its value refers to it
-
freed: two channels
-
freed: reason
-
freed: iterator
-
freed: current value of an iterator
-
freed: result of a future
-
freed: failure of a future
-
freed: callback of a future
-
freed: chain of futures
-
freed: value of a waiting sender
-
alive: true
freed: value in flight
-
of a channel that is waited for: true
it is closed: Async\ChannelException: The channel is closed
