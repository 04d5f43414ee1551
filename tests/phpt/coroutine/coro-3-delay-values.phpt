--TEST--
CORO-3 delay(): zero, negative, huge and wrong values
--FILE--
<?php
use function Async\{delay, spawn, suspend};

require __DIR__ . '/kit.inc';

$order = [];
spawn(function() use (&$order) { $order[] = 'other'; });
delay(0);
$order[] = 'delay(0) is over';
echo json_encode($order), "\n";

foreach ([-1, PHP_INT_MIN, 'text', null, [], 1e30, NAN] as $value) {
    try {
        delay($value);
        echo "accepted\n";
    } catch (TypeError|ValueError $e) {
        echo get_class($e), ': ', $e->getMessage(), "\n";
    }
}

// the longest ones wait, without overflow, till they are cancelled
foreach ([PHP_INT_MAX, intdiv(PHP_INT_MAX, 1_000_000), intdiv(PHP_INT_MAX, 1000) + 1, 0x100000000] as $ms) {
    $coroutine = spawn(fn() => delay($ms));
    delay(20);
    $waits = $coroutine->isSuspended();
    $coroutine->cancel();
    var_dump($waits, T\failure($coroutine) instanceof Async\CancellationException);
}
?>
--EXPECTF--
["other","delay(0) is over"]
ValueError: Async\delay(): Argument #1 ($ms) must be %s
ValueError: Async\delay(): Argument #1 ($ms) must be %s
TypeError: Async\delay(): Argument #1 ($ms) must be of type int, string given
%ATypeError: Async\delay(): Argument #1 ($ms) must be of type int, array given
TypeError: Async\delay(): Argument #1 ($ms) must be of type int, float given
TypeError: Async\delay(): Argument #1 ($ms) must be of type int, float given
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
