--TEST--
APP-4 loops of whole functions that the JIT has compiled are not interrupted: they would lose count
--INI--
async.time_slice_ms=1
async.block_warning_ms=5
opcache.enable_cli=1
opcache.file_update_protection=0
opcache.jit=function
opcache.jit_buffer_size=16M
--FILE--
<?php
use function Async\{await, spawn};

ini_set('display_errors', '0'); // of what blocks, and that there are no slices
set_error_handler(fn(int $level, string $message) => throw new Exception($message));
$sum = 0;
$add = function() use (&$sum) {
    for ($i = 0; $i < 20_000_000; $i++) {
        $sum += 1;
    }
};
await(spawn($add));
echo $sum, "\n";
?>
--EXPECT--
20000000
