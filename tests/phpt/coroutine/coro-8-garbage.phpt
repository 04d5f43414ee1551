--TEST--
CORO-8 the cycle collector sees what suspended coroutines hold: it frees no live object and leaves no dead coroutine
--FILE--
<?php
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';

function cycle(string $name): array
{
    $a = new stdClass;
    $a->name = $name;
    $a->self = $a;
    $a->list = [&$a->list, $a];
    return [$a];
}

$jobs = [];
for ($i = 0; $i < 200; $i++) {
    $jobs[$i] = spawn(function(array $argument) use ($i) {
        $local = cycle("local $i");
        $generator = (function() use ($i) { $held = cycle("generator $i"); yield 1; yield $held[0]->self->name; })();
        $generator->current();
        $pending = [cycle("temporary $i"), suspend() ?? T\turns(20), "x"][0];
        $generator->next();
        return $local[0]->self->name . $argument[0]->self->name . $pending[0]->self->name . $generator->current();
    }, cycle("argument $i"));
}
suspend();
for ($round = 0; $round < 3; $round++) {
    foreach (range(1, 200) as $i) cycle('garbage');
    gc_collect_cycles();
    suspend();
}
$expected = array_map(fn($i) => "local $i" . "argument $i" . "temporary $i" . "generator $i", range(0, 199));
var_dump(T\all($jobs) === $expected);

// a coroutine in a cycle with its own closure, ended
$weak = (function() {
    $object = new stdClass;
    $coroutine = null;
    $coroutine = spawn(function() use (&$coroutine, $object) { return [$coroutine, $object]; });
    $object->coroutine = $coroutine;
    await($coroutine);
    return [WeakReference::create($object), WeakReference::create($coroutine)];
})();
suspend();
gc_collect_cycles();
var_dump($weak[0]->get(), $weak[1]->get());

// one that waits and knows itself goes on all the same
(function() {
    $coroutine = spawn(function() use (&$coroutine) { T\turns(20); echo $coroutine->isRunning() ? "still there\n" : "lost\n"; });
    $coroutine = [$coroutine][0];
})();
suspend();
gc_collect_cycles();
?>
--EXPECT--
bool(true)
NULL
NULL
still there
