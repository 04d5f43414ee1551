--TEST--
A signal handler that throws between two instructions leaves no operand, and frees no argument that is not there
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
