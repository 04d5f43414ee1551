--TEST--
CORO-9 onFinally() and onExit(): once, the last first, with the coroutine, before its awaiter, whatever the ending
--INI--
async.seed=0
--FILE--
<?php
use Async\Coroutine;
use function Async\{await, delay, onExit, onFinally, spawn, suspend};

require __DIR__ . '/kit.inc';

$say = fn(string $text) => function(Coroutine $c) use ($text) {
    echo "$text ";
    var_dump($c->isCompleted());
};

$good = spawn(function() use ($say) {
    onFinally($say('registered inside'));
    suspend();
    onExit($say('registered last'));
    return 'result';
});
$good->onFinally($say('registered first'));
$good->onExit($say('registered second'));
echo await($good), "\n-\n";

$bad = spawn(function() { throw new RuntimeException('failure'); });
$bad->onFinally(function(Coroutine $c) { echo $c->getException()->getMessage(), "\n"; });
T\failure($bad);

$cancelled = spawn(fn() => delay(600_000));
$cancelled->onFinally(function(Coroutine $c) { T\turns(5); echo get_class($c->getException()), " after a delay\n"; });
suspend();
$cancelled->cancel();
T\failure($cancelled);
suspend();
T\turns(20);

$good->onFinally($say('on a completed one'));
T\turns(5);
foreach ([fn() => onFinally('strlen'), fn() => $good->onExit(null), fn() => onExit()] as $wrong) {
    try {
        $wrong();
    } catch (TypeError $e) {
        echo get_class($e), "\n";
    }
}
?>
--EXPECT--
registered last bool(true)
registered inside bool(true)
registered second bool(true)
registered first bool(true)
result
-
failure
Async\CancellationException after a delay
on a completed one bool(true)
TypeError
TypeError
ArgumentCountError
