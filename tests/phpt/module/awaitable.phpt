--TEST--
Awaitable is implemented by the extension's own classes alone
--FILE--
<?php
try {
    eval('final class Mine implements Async\Awaitable {}');
    echo "declared\n";
} catch (Throwable $e) {
    echo get_class($e), "\n";
}
?>
--EXPECTF--
Fatal error: Class Mine cannot implement Async\Awaitable in %s : eval()'d code on line 1
