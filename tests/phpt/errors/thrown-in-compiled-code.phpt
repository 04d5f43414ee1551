--TEST--
A signal handler that throws between two instructions of code that the JIT has compiled, with and without a coroutine
--INI--
opcache.enable_cli=1
opcache.file_update_protection=0
opcache.jit=tracing
opcache.jit_buffer_size=16M
--EXTENSIONS--
pcntl
--FILE--
<?php
require __DIR__ . '/interrupted.inc';
// Since PHP 8.4 no one can tell whether a call without a frame has begun: its operands stay, as without Spindle.
$allowed = PHP_VERSION_ID < 80400 ? 5_000 : PHP_INT_MAX;
interrupted(1_000, $allowed);
Async\await(Async\spawn(interrupted(...), 400, $allowed));
?>
--EXPECT--
1000, and nothing is left
400, and nothing is left
