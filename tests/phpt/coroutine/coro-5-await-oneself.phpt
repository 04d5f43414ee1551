--TEST--
CORO-5 awaiting oneself throws, names the place of spawn, and harms nothing
--FILE--
<?php
use function Async\{await, currentCoroutine, delay, spawn};

$coroutine = spawn(function() {
    try {
        await(currentCoroutine());
    } catch (Async\AsyncException $e) {
        echo str_replace(__DIR__ . '/', '', $e->getMessage()), "\n";
    }
    try {
        array_map('Async\await', [currentCoroutine()]);
    } catch (Async\AsyncException $e) {
        echo "through a callback as well\n";
    }
    delay(5);
    return 'it goes on';
});
echo await($coroutine), "\n";

try {
    await(currentCoroutine());
} catch (Async\AsyncException $e) {
    echo substr($e->getMessage(), 0, 31), "\n";
}
?>
--EXPECT--
A coroutine cannot await itself. Coroutine spawned at coro-5-await-oneself.php:4
through a callback as well
it goes on
A coroutine cannot await itself
