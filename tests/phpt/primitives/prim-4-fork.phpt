--TEST--
PRIM-1 PRIM-4 in the child of a fork only the coroutine that forked goes on; what others wait for there is free for it
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{Barrier, Channel, Future, FutureState, Mutex, Semaphore};
use function Async\{await, select, spawn, suspend};

$c = new Channel;
$buffered = new Channel(2);
$buffered->send('buffered');
$s = new Semaphore(1);
$s->acquire();
$m = new Mutex;
$state = new FutureState;
$f = new Future($state);
$b = new Barrier(2);
$held = new Mutex;
$waiters = in_turn(
    fn() => $c->recv(), fn() => $c->recv(), fn() => select([$c, $f]),
    fn() => $s->acquire(), fn() => $f->await(), fn() => $f->map(fn($x) => "$x, mapped")->await(), fn() => $b->await(),
    function() use ($held, $c) { $held->lock(); $c->recv(); $held->unlock(); },
);
waiting(...$waiters);
$pid = pcntl_fork();
if ($pid === 0) {
    pcntl_alarm(60);
    ob_start();
    attempt('nobody waits', fn() => [$c->trySend('x'), $b->waiting(), $c->tryRecv()]);
    attempt('buffered', fn() => $buffered->recv());
    attempt('both ends', function() use ($c) { spawn(fn() => $c->send('in the child')); return $c->recv(); });
    attempt('permit', fn() => [$s->release(), $s->available(), $s->tryAcquire()]);
    attempt('mutex', fn() => $m->with(fn() => await(spawn(fn() => $m->tryLock()))));
    attempt('barrier', function() use ($b) { $o = spawn(fn() => $b->await()); T\begun($o); return [$b->await(), await($o)]; });
    attempt('future', function() use ($f, $state) { $state->complete('completed in the child'); return $f->await(); });
    attempt('select', function() use ($c) { spawn(fn() => $c->send('again')); return select([$c]); });
    attempt('locked by one that is gone', fn() => [$held->isLocked(), $held->tryLock()]);
    file_put_contents("php://stdout", ob_get_clean());
    exit(0);
}
pcntl_waitpid($pid, $status);
echo "child: $status\n";
attempt('in the parent', fn() => [$c->trySend(1), $c->trySend(2), $c->trySend(3), $c->trySend(4), $c->trySend(5), $buffered->recv()]);
$s->release();
$state->complete('completed');
$b->await();
attempt('waiters', fn() => T\all($waiters));
?>
--EXPECT--
nobody waits: [false,0,null]
buffered: "buffered"
both ends: "in the child"
permit: [null,1,true]
mutex: false
barrier: [true,false]
future: "completed in the child"
select: [0,"again"]
locked by one that is gone: [true,false]
child: 0
in the parent: [true,true,true,true,false,"buffered"]
waiters: [1,2,[0,3],null,"completed","completed, mapped",false,null]
