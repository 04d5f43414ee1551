--TEST--
ERR-4 in a deadlock the script gets DeadlockError where it waits, may catch it and do more, and still ends with it
--FILE--
<?php
require __DIR__ . '/kit.inc';

$ended = T\php(<<<'PHP'
    use function Async\{await, currentCoroutine, delay, spawn};
    $main = currentCoroutine();
    $c = spawn(function() use ($main) {
        try {
            await($main);
        } catch (Async\DeadlockError $e) {
            usleep(1000);
            echo "the coroutine gets ", get_class($e), "\n";
        }
    });
    try {
        await($c);
        echo "no error\n";
    } catch (Throwable $e) {
        echo "the script gets ", get_class($e), "\n";
    }
    delay(5);
    echo "and goes on\n";
    PHP);
T\check('coroutine', $ended->has("the coroutine gets Async\\DeadlockError\n"), $ended);
T\check('script', $ended->has("and goes on\n") && ($ended->has("the script gets Async\\DeadlockError\n") || $ended->has("no error\n")), $ended);
T\check('two warnings', substr_count($ended->output, "\nWarning: ") === 2, $ended);
T\check('status', $ended->status === 255 && $ended->has('Uncaught Async\DeadlockError'), $ended);

// an exception handler gets it as well
$ended = T\php(<<<'PHP'
    set_exception_handler(function($e) { echo "handler: ", get_class($e), "\n"; });
    $c = null;
    $c = Async\spawn(fn() => Async\await($GLOBALS['d']));
    $d = Async\spawn(fn() => Async\await($c));
    PHP);
T\check('handler', $ended->has("handler: Async\\DeadlockError\n") && $ended->status === 255 && !$ended->has('Uncaught'), $ended);
?>
--EXPECT--
coroutine: yes
script: yes
two warnings: yes
status: yes
handler: yes
