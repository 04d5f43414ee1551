--TEST--
CORO-12 exit as a function, which it is since PHP 8.4, called in a coroutine or as one
--SKIPIF--
<?php if (PHP_VERSION_ID < 80400) die('skip the function exit came with PHP 8.4'); ?>
--FILE--
<?php
require __DIR__ . '/kit.inc';

$end = ' Async\delay(600_000); echo "never";';
foreach ([
    'Async\spawn("exit", "by its name");' . $end,
    'Async\spawn(exit(...), 3);' . $end,
    'Async\spawn(die(...));' . $end,
    'Async\await(Async\spawn(fn() => array_map("exit", ["mapped", "twice"]))); echo "never";',
    'Async\spawn(fn() => exit(status: 4));' . $end,
    'Async\spawn(fn() => call_user_func(die(...), 5));' . $end,
    'Async\spawn(fn() => (new Fiber("exit"))->start("in a fiber"));' . $end,
    'register_shutdown_function("exit", "at the end"); Async\spawn(Async\suspend(...)); echo "script ";',
    'Async\spawn(function () { try { exit(7); } finally { echo "never"; } });' . $end,
    'foreach ([[], new stdClass] as $no) try { Async\await(Async\spawn("exit", $no)); } catch (TypeError $e) { echo $e->getMessage(), " "; }',
    'function gen() { try { yield 1; exit("in a generator"); } finally { echo "never"; } } Async\spawn(function () { foreach (gen() as $x); });' . $end,
] as $code) {
    echo T\php($code), "\n";
}
?>
--EXPECT--
[0] by its name
[3] 
[0] 
[0] mapped
[4] 
[5] 
[0] in a fiber
[0] script at the end
[7] 
[0] exit(): Argument #1 ($status) must be of type string|int, array given exit(): Argument #1 ($status) must be of type string|int, stdClass given 
[0] in a generator
