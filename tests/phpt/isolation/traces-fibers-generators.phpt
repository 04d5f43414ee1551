--TEST--
CORO-8 traces end at the bottom of one's own coroutine; the current Fiber is one's own; a generator runs in one coroutine at a time
--FILE--
<?php
use function Async\{await, delay, spawn, suspend};

require __DIR__ . '/kit.inc';

function inner(string $name): array
{
    suspend();
    return array_column(debug_backtrace(), 'function');
}
function outer_a(): array { return inner('a'); }
function outer_b(): array { return inner('b'); }
[$a, $b] = T\all([spawn(outer_a(...)), spawn(outer_b(...))]);
echo implode(' ', $a), ' | ', implode(' ', $b), "\n";

function fails(string $name): never
{
    suspend();
    throw new RuntimeException($name);
}
$failing = [spawn(fn () => fails('a')), spawn(fn () => fails('b'))];
foreach ($failing as $coroutine) {
    $e = T\failure($coroutine);
    echo $e->getMessage(), ' ', implode(' ', array_column($e->getTrace(), 'function')), ' ', substr_count($e->getTraceAsString(), '{main}'), "\n";
}

// Fiber::getCurrent()
$fiber = new Fiber(function (): array {
    $other = spawn(fn () => Fiber::getCurrent());
    $own = Fiber::getCurrent();
    delay(2);
    return [$own === Fiber::getCurrent(), await($other)];
});
$outside = spawn(function () {
    suspend();
    return Fiber::getCurrent();
});
$fiber->start();
var_dump($fiber->getReturn(), await($outside));

// One generator, two coroutines
$numbers = (function () {
    for ($i = 1; ; $i++) {
        delay(2);
        yield $i;
    }
})();
$first = spawn(fn () => $numbers->current());
$second = spawn(fn () => $numbers->current());
echo json_encode([await($first), T\failure($second)?->getMessage()]), "\n";

// One array's pointer, one iterator: shared as the object is
$iterator = new ArrayIterator(range(1, 6));
$take = function () use ($iterator): string {
    for ($taken = ''; $iterator->valid(); $iterator->next()) {
        $taken .= $iterator->current();
        suspend();
    }
    return $taken;
};
$taken = T\all([spawn($take), spawn($take)]);
echo strlen(implode('', $taken)) >= 6 && $taken[0] !== '123456' ? 'shared' : json_encode($taken), "\n";
?>
--EXPECTF--
inner outer_a | inner outer_b
a fails {closure%S} 1
b fails {closure%S} 1
array(2) {
  [0]=>
  bool(true)
  [1]=>
  NULL
}
NULL
[1,"Cannot resume an already running generator"]
shared
