--TEST--
CORO-8 a new coroutine has the error handler that was in force where it was spawned
--FILE--
<?php
use function Async\{await, spawn, suspend};

$handler = fn(string $name) => function(int $level, string $text) use ($name) { echo "$name: $text\n"; return true; };
// what is printed in a coroutine is its result
$told = fn(Closure $task) => function() use ($task) { ob_start(); $task(); return ob_get_clean(); };

set_error_handler($handler('first'));
$one = spawn($told(function() {
    trigger_error('one');
    suspend();
    trigger_error('one again');
}));
set_error_handler($handler('second'));
$two = spawn($told(function() use ($handler, $told) {
    trigger_error('two');
    set_error_handler($handler('of two'));
    echo await(spawn($told(fn() => trigger_error('child of two'))));
    trigger_error('two again');
}));
restore_error_handler();
restore_error_handler();
$three = spawn($told(fn() => trigger_error('three')));
set_error_handler($handler('later'), E_USER_WARNING);
$four = spawn($told(function() {
    trigger_error('four', E_USER_WARNING);
    trigger_error('four, not for the handler', E_USER_NOTICE);
}));
foreach ([$one, $two, $three, $four] as $c) echo await($c);
trigger_error('script', E_USER_WARNING);
?>
--EXPECTF--
first: one
first: one again
second: two
of two: child of two
of two: two again

Notice: three in %s on line 23
later: four

Notice: four, not for the handler in %s on line 27
later: script
