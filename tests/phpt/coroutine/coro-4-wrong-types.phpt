--TEST--
CORO-4 await() takes an Awaitable and an optional Awaitable, and nothing else
--FILE--
<?php
use function Async\{await, spawn, suspend};

$good = spawn(fn() => 1);
foreach ([[42], [null], ['strlen'], [new stdClass], [fn() => 1], [[$good]], [$good, 5], [$good, new stdClass], [$good, null, $good], []] as $arguments) {
    try {
        $result = await(...$arguments);
        echo 'accepted: ', json_encode($result), "\n";
    } catch (TypeError $e) {
        echo get_class($e), ': ', preg_replace('/ must be of type (\S+),/', ' has the wrong type,', $e->getMessage()), "\n";
    }
}
var_dump(await($good, null), await(awaitable: $good, cancellation: null));
?>
--EXPECT--
TypeError: Async\await(): Argument #1 ($awaitable) has the wrong type, int given
TypeError: Async\await(): Argument #1 ($awaitable) has the wrong type, null given
TypeError: Async\await(): Argument #1 ($awaitable) has the wrong type, string given
TypeError: Async\await(): Argument #1 ($awaitable) has the wrong type, stdClass given
TypeError: Async\await(): Argument #1 ($awaitable) has the wrong type, Closure given
TypeError: Async\await(): Argument #1 ($awaitable) has the wrong type, array given (Async\awaitAll() awaits the members of an array)
TypeError: Async\await(): Argument #2 ($cancellation) has the wrong type, int given
TypeError: Async\await(): Argument #2 ($cancellation) has the wrong type, stdClass given
ArgumentCountError: Async\await() expects at most 2 arguments, 3 given
ArgumentCountError: Async\await() expects at least 1 argument, 0 given
int(1)
int(1)
