--TEST--
CORO-2 the end of the script: coroutines, then shutdown functions, then destructors, then the output buffers
--FILE--
<?php
use function Async\{delay, spawn};

final class Global_
{
    public function __destruct() { fwrite(STDOUT, "destructor\n"); }
}

$global = new Global_;
register_shutdown_function(function() { fwrite(STDOUT, "shutdown function\n"); });
ob_start(function(string $buffer) {
    return "flushed: $buffer";
});
echo "buffered\n";
spawn(function() {
    delay(30);
    fwrite(STDOUT, "coroutine\n");
    spawn(function() {
        delay(30);
        fwrite(STDOUT, "its child\n");
    });
});
fwrite(STDOUT, "the script ends\n");
?>
--EXPECT--
the script ends
coroutine
its child
shutdown function
destructor
flushed: buffered
