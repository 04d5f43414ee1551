--TEST--
CORO-12 a fatal error in a coroutine that runs on the stack of one that has ended: shutdown functions run, the status is 255
--FILE--
<?php
require __DIR__ . '/kit.inc';

$code = <<<'PHP'
    register_shutdown_function(function () { echo 'shutdown: ', error_get_last()['message'], "\n"; });
    Async\spawn(fn () => true);
    Async\spawn(function () {
        WAIT
        eval('function strlen() {}');
    });
    Async\delay(600_000);
    echo "not reached\n";
    PHP;
foreach (['', 'Async\delay(1);'] as $wait) {
    echo T\as_in_8_2(T\php(str_replace('WAIT', $wait, $code), '-d display_errors=0'));
}
?>
--EXPECT--
[255] shutdown: Cannot redeclare strlen()
[255] shutdown: Cannot redeclare strlen()
