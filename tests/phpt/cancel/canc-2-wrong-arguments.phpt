--TEST--
CANC-2 cancel() takes a CancellationException or nothing
--FILE--
<?php
use function Async\{await, spawn, suspend};

$c = spawn(function() { suspend(); suspend(); return 'not cancelled'; });
foreach ([[new RuntimeException], ['reason'], [42], [new stdClass], [null, 1]] as $arguments) {
    try {
        $c->cancel(...$arguments);
        echo "accepted\n";
    } catch (TypeError $e) {
        echo get_class($e), "\n";
    }
}
var_dump($c->isCancellationRequested());
echo await($c), "\n";
?>
--EXPECT--
TypeError
TypeError
TypeError
TypeError
ArgumentCountError
bool(false)
not cancelled
