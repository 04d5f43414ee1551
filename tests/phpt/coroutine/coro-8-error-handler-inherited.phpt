--TEST--
CORO-8 a new coroutine has the error handler that was in force where it was spawned
--FILE--
<?php
use function Async\{await, spawn, suspend};

$handler = fn(string $name) => function(int $level, string $text) use ($name) { echo "$name: $text\n"; return true; };

set_error_handler($handler('first'));
$one = spawn(function() {
    trigger_error('one');
    suspend();
    trigger_error('one again');
});
set_error_handler($handler('second'));
$two = spawn(function() use ($handler) {
    trigger_error('two');
    set_error_handler($handler('of two'));
    await(spawn(fn() => trigger_error('child of two')));
    trigger_error('two again');
});
restore_error_handler();
restore_error_handler();
$three = spawn(fn() => trigger_error('three'));
set_error_handler($handler('later'), E_USER_WARNING);
$four = spawn(function() {
    trigger_error('four', E_USER_WARNING);
    trigger_error('four, not for the handler', E_USER_NOTICE);
});
foreach ([$one, $two, $three, $four] as $c) await($c);
trigger_error('script', E_USER_WARNING);
?>
--EXPECTF--
first: one
second: two

Notice: three in %s on line 21
later: four

Notice: four, not for the handler in %s on line 25
first: one again
of two: child of two
of two: two again
later: script
