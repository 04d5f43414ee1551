--TEST--
PRIM-1 PRIM-4 waits in fibers, callbacks of C code, magic methods, destructors, generators and generator tasks
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{Barrier, Channel, Future, Mutex, Semaphore};
use Async\Task\Scheduler;
use function Async\{await, select, spawn, suspend};

$soon = function(mixed ...$values): Channel {
    $c = new Channel;
    spawn(function() use ($c, $values) {
        try {
            foreach ($values as $value) $c->send($value);
            $c->close();
        } catch (Async\ChannelException) { // closed by who has enough
        }
    });
    return $c;
};
attempt('fiber', function() use ($soon) { $c = $soon('a', 'b'); $f = new Fiber(fn() => $c->recv() . Fiber::suspend($c->recv())); return [$f->start(), $f->resume('!'), $f->getReturn()]; });
attempt('callback', fn() => array_map(fn($c) => $c->recv(), [$soon(1), $soon(2)]));
attempt('usort', function() use ($soon) { $c = $soon(...range(1, 9)); $a = [3, 1, 2]; usort($a, fn($x, $y) => $c->recv() ? $x <=> $y : 0); $c->close(); return $a; });
attempt('generator', fn() => iterator_to_array((function() use ($soon) { foreach ($soon('x', 'y') as $value) yield $value . select([$soon('!')])[1]; })()));
attempt('__get', fn() => (new class($soon('from __get')) { public function __construct(private Channel $c) {} public function __get($name) { return $this->c->recv(); } })->any);
attempt('__toString', fn() => (string) new class($soon('from __toString')) { public function __construct(private Channel $c) {} public function __toString(): string { return $this->c->recv(); } });
attempt('destructor', function() use ($soon) { $c = $soon('in a destructor'); $got = null; (function() use ($c, &$got) { new Doing(function() use ($c, &$got) { $got = $c->recv(); }); })(); return $got; });
attempt('output buffer', function() use ($soon) { ob_start(); echo $soon('printed')->recv(); return ob_get_clean(); });
attempt('mutex over a fiber', function() {
    $m = new Mutex;
    $f = new Fiber(function() use ($m) { $m->lock(); Fiber::suspend(); $m->unlock(); });
    $f->start();
    $other = spawn(fn() => $m->with(fn() => 'the other one'));
    T\begun($other);
    $before = $m->isLocked();
    $f->resume();
    return [$before, await($other), $m->isLocked()];
});
attempt('tasks', function() use ($soon) {
    $s = new Scheduler;
    $got = [];
    $c = new Channel;
    $s->newTask((function() use (&$got, $soon) { $got[] = yield spawn(fn() => $soon('of a coroutine')->recv()); })());
    $s->newTask((function() use (&$got) { $got[] = yield Future::completed('of a future'); })());
    $s->newTask((function() use (&$got, $soon) { $got[] = $soon('received in a task')->recv(); yield; })());
    $s->run();
    sort($got);
    return $got;
});
attempt('semaphore in array_walk', function() { $s = new Semaphore(1); $s->acquire(); spawn(fn() => $s->release()); $a = [1]; array_walk($a, fn() => $s->acquire()); return $s->available(); });
attempt('barrier in call_user_func', function() { $b = new Barrier(2); spawn(fn() => $b->await()); return call_user_func($b->await(...)); });
attempt('by an array', fn() => call_user_func([$soon('called'), 'recv']));
attempt('first class callable', fn() => ($soon('called')->recv(...))());
attempt('reflection', fn() => (new ReflectionMethod(Channel::class, 'recv'))->invoke($soon('called')));
register_shutdown_function(function() {
    attempt('at the end', fn() => (new Channel)->recv());
    attempt('no wait at the end', function() { $c = new Channel(1); $c->send('v'); $m = new Mutex; return [$c->recv(), $m->with(fn() => $m->isLocked()), select([Future::completed(1)])]; });
});
?>
--EXPECT--
fiber: ["b",null,"a!"]
callback: [1,2]
usort: [1,2,3]
generator: ["x!","y!"]
__get: "from __get"
__toString: "from __toString"
destructor: "in a destructor"
output buffer: "printed"
mutex over a fiber: [true,"the other one",false]
tasks: ["of a coroutine","of a future","received in a task"]
semaphore in array_walk: 0
barrier in call_user_func: false
by an array: "called"
first class callable: "called"
reflection: "called"
at the end: Async\AsyncException: Cannot await here: the coroutines have ended, it would never complete
no wait at the end: ["v",true,[0,1]]
