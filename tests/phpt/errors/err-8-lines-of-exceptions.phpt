--TEST--
ERR-8 A warning of what an exception releases on its way names a line of the code that it passes
--FILE--
<?php
use Async\{Future, FutureState, Scope};
use function Async\{await, delay, spawn, suspend};

require __DIR__ . '/kit.inc';

set_error_handler(function(int $level, string $text, string $file, int $line) {
    echo basename($file), ', ', $line - CALL, ' lines from the call: ', preg_replace('~( at|:) .*~', '', $text), "\n";
    return true;
});

function leaves_a_scope(): void
{
    $scope = new Scope;
    $GLOBALS['zombie'] = $scope->spawn(fn() => delay(600_000));
    suspend();
    throw new Exception('caught');
}

function leaves_a_future(): void
{
    $state = new FutureState;
    $future = new Future($state);
    $state->error(new LogicException('lost'));
    throw new Exception('caught');
}

foreach (['leaves_a_scope', 'leaves_a_future'] as $function) {
    $call = function() use ($function) {
        try {
            defined('CALL') || define('CALL', __LINE__ + 1);
            $function();
        } catch (Exception $e) {
            echo $e->getMessage(), "\n";
        }
    };
    $call();
    await(spawn($call));
}
$zombie->cancel();
?>
--EXPECT--
err-8-lines-of-exceptions.php, 0 lines from the call: Coroutine is zombie
caught
err-8-lines-of-exceptions.php, 0 lines from the call: Coroutine is zombie
caught
err-8-lines-of-exceptions.php, 0 lines from the call: The failure of a Future was never received
caught
err-8-lines-of-exceptions.php, 0 lines from the call: The failure of a Future was never received
caught
