--TEST--
CORO-12 CORO-13 exit inside shutdown functions and destructors after coroutines ran, and the status of a plain end
--FILE--
<?php
require __DIR__ . '/kit.inc';

$codes = [
    'plain' => 'Async\spawn(fn() => Async\delay(5));',
    'zero' => 'Async\spawn(fn() => exit(0));',
    '254' => 'Async\spawn(function() { Async\delay(5); exit(254); });',
    'in a shutdown function' => 'register_shutdown_function(fn() => exit(9)); Async\spawn(fn() => Async\delay(5));',
    'first 3, then 9' => 'register_shutdown_function(fn() => exit(9)); Async\spawn(fn() => exit(3));',
    'in a late destructor' => 'final class D { function __destruct() { exit(11); } } $d = new D; Async\spawn(fn() => Async\delay(5));',
    'two that exit' => 'Async\spawn(function() { Async\spawn(fn() => exit(5)); exit(4); });',
];
foreach ($codes as $name => $code) {
    echo "$name: ", T\php($code), "\n";
}
?>
--EXPECT--
plain: [0] 
zero: [0] 
254: [254] 
in a shutdown function: [9] 
first 3, then 9: [9] 
in a late destructor: [11] 
two that exit: [4] 
