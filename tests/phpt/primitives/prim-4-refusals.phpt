--TEST--
PRIM-4 the classes are final, and not to be cloned, serialized, compared by value or constructed twice
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{Barrier, Channel, ChannelIterator, CoroutineGroup, Future, FutureState, Interval, Mutex, Semaphore, SignalArrival};

$classes = [
    Barrier::class => [2], Channel::class => [1], ChannelIterator::class => [], CoroutineGroup::class => [], Future::class => [new FutureState], FutureState::class => [],
    Interval::class => [1], Mutex::class => [], Semaphore::class => [1], SignalArrival::class => [],
];
foreach ($classes as $class => $arguments) {
    $reflection = new ReflectionClass($class);
    $object = new $class(...$arguments);
    $faults = [];
    $refused = function(string $what, callable $call) use (&$faults) {
        try {
            $call();
            $faults[] = $what;
        } catch (Error | Exception) {
        }
    };
    $refused('clone', fn() => clone $object);
    $refused('serialize', fn() => serialize($object));
    $refused('unserialize', fn() => @unserialize('O:' . strlen($class) . ":\"$class\":0:{}") ?: throw new Exception);
    $refused('property', fn() => $object->x = 1);
    $refused('reference', function() use ($object) { $x = &$object->x; $x = 1; });
    $refused('without constructor', fn() => $reflection->newInstanceWithoutConstructor());
    if ($reflection->getConstructor() !== null && $class !== CoroutineGroup::class) {
        $refused('constructed twice', fn() => $object->__construct(...$arguments));
    }
    if (!$reflection->isFinal()) $faults[] = 'not final';
    if ($object == new $class(...$arguments)) $faults[] = 'equal to another';
    if ((array) $object !== [] || get_object_vars($object) !== []) $faults[] = 'shows properties';
    var_export($object, true);
    json_encode($object);
    unset($object->x);
    echo $class, $faults ? ': WRONG: ' . implode(', ', $faults) : ' is its own', "\n";
}
$iterator = new ChannelIterator;
$iterator->rewind();
$iterator->next();
attempt('iterator without a channel', fn() => [$iterator->valid(), $iterator->current(), $iterator->key()]);
attempt('huge', fn() => [(new Channel(PHP_INT_MAX))->capacity() === PHP_INT_MAX, (new Barrier(PHP_INT_MAX))->waiting(), (new Semaphore(PHP_INT_MAX))->tryAcquire()]);
?>
--EXPECT--
Async\Barrier is its own
Async\Channel is its own
Async\ChannelIterator is its own
Async\CoroutineGroup is its own
Async\Future is its own
Async\FutureState is its own
Async\Interval is its own
Async\Mutex is its own
Async\Semaphore is its own
Async\SignalArrival is its own
iterator without a channel: [false,null,1]
huge: [true,0,true]
