--TEST--
A signal handler that throws between two instructions of code that the JIT has compiled, which there is a coroutine beside, or not
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
interrupted(1_000);
Async\await(Async\spawn(interrupted(...), 400));
?>
--EXPECT--
1000, and nothing is left
400, and nothing is left
