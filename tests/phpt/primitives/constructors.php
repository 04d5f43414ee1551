<?php
require __DIR__ . '/kit.inc';
use Async\{Barrier, Channel, ChannelIterator, Future, FutureState, Interval, Mutex, Pool, Semaphore, SignalArrival};
use function Async\{await, awaitAll, select, spawn};

$made = [
    Barrier::class => [2], Channel::class => [1], ChannelIterator::class => [], Future::class => [new FutureState], FutureState::class => [],
    Interval::class => [1], Mutex::class => [], Pool::class => [fn() => new stdClass], Semaphore::class => [1], SignalArrival::class => [],
];
foreach ($made as $class => $arguments) {
    $object = new $class(...$arguments);
    $faults = [];
    $refused = function(string $what, callable $call) use (&$faults) {
        try {
            $call();
            $faults[] = $what;
        } catch (Error|Exception $e) {
            if ($e instanceof Async\CancellationException) $faults[] = $what . get_class($e);
        }
    };
    $reflection = new ReflectionClass($class);
    $refused('clone', fn() => clone $object);
    $refused('serialize', fn() => serialize($object));
    $refused('unserialize', fn() => unserialize('O:' . strlen($class) . ":\"$class\":0:{}") ?: throw new Exception);
    $refused('property', fn() => $object->x = 1);
    $refused('reference', function() use ($object) { $x = &$object->x; $x = 1; });
    $refused('without constructor', fn() => $reflection->newInstanceWithoutConstructor());
    $refused('extends', fn() => $reflection->isFinal() ? throw new Exception : null);
    if ($reflection->getConstructor() !== null) {
        $refused('constructed twice', fn() => $object->__construct(...$arguments));
    }
    if ($object == new $class(...$arguments)) $faults[] = 'equal to another';
    if ((array) $object !== []) $faults[] = 'shows properties';
    var_export($object, true);
    json_encode($object);
    unset($object->x);
    echo $class, $faults ? ': WRONG: ' . implode(', ', $faults) : ' is its own', "\n";
}
attempt('too few', fn() => new Barrier);
attempt('negative capacity', fn() => new Channel(-1));
attempt('negative permits', fn() => new Semaphore(-1));
attempt('no party', fn() => new Barrier(0));
attempt('no period', fn() => new Interval(0));
attempt('negative min', fn() => new Pool(fn() => 1, min: -1));
attempt('max 0', fn() => new Pool(fn() => 1, max: 0));
attempt('min over max', fn() => new Pool(fn() => 1, min: 3, max: 2));
attempt('negative interval', fn() => new Pool(fn() => 1, healthcheckInterval: -1));
attempt('negative idle time', fn() => new Pool(fn() => 1, idleTime: -1));
attempt('not callable', fn() => new Pool('no_such_function'));
attempt('destructor not callable', fn() => new Pool(fn() => 1, destructor: 5));
attempt('unknown name', fn() => new Channel(size: 3));
attempt('named', fn() => (new Channel(capacity: 3))->capacity());
attempt('not a state', fn() => new Future(new Channel));
attempt('huge capacity', fn() => (new Channel(PHP_INT_MAX))->capacity());
attempt('huge interval', fn() => new Interval(PHP_INT_MAX));
attempt('huge barrier', fn() => (new Barrier(PHP_INT_MAX))->waiting());
attempt('huge pool', fn() => (new Pool(fn() => 1, max: PHP_INT_MAX))->acquire());
attempt('await of an arrival without a signal', fn() => await(new SignalArrival));
attempt('select of it', fn() => select([new SignalArrival]));
attempt('awaitAll of it', fn() => awaitAll([new SignalArrival]));
$iterator = new ChannelIterator;
$iterator->rewind();
$iterator->next();
attempt('iterator without a channel', fn() => [$iterator->valid(), $iterator->current(), $iterator->key()]);
attempt('iterator with next alone', function() {
    $channel = new Channel(2);
    $channel->send(1);
    $channel->send(2);
    $i = $channel->getIterator();
    $i->next();
    return [$i->valid(), $i->current(), $i->key()];
});
attempt('semaphore of none', function() { $s = new Semaphore(0); return [$s->tryAcquire(), $s->available()]; });
attempt('release of none', fn() => (new Semaphore(0))->release());
attempt('complete twice', function() { $s = new FutureState; $s->complete(1); $s->complete(2); });
attempt('error after complete', function() { $s = new FutureState; $s->complete(1); $s->error(new Exception); });
attempt('not mine', fn() => (new Pool(fn() => new stdClass))->release(new stdClass));
attempt('unlock of an unlocked', fn() => (new Mutex)->unlock());
attempt('lock twice', function() { $m = new Mutex; $m->lock(); $m->lock(); });
