--TEST--
H16 a callback of array_find() and the like that is suspended makes no call in another coroutine wait
--SKIPIF--
<?php if (PHP_VERSION_ID < 80400) die('skip these functions came with PHP 8.4'); ?>
--FILE--
<?php
use function Async\{spawn, suspend};

require __DIR__ . '/kit.inc';

foreach (['array_find' => 2, 'array_find_key' => 1, 'array_any' => true, 'array_all' => false] as $function => $expected) {
    $open = false;
    $array = [1, 2, 3];
    $callback = function ($x) use (&$open) { while (!$open) suspend(); return $x === 2; };
    $waits = spawn(fn() => $function($array, $callback));
    T\begun($waits);
    $array[1] = 'changed meanwhile';
    $others = T\all([
        spawn(fn() => $function([1, 2], fn($x) => $x === 2)),
        spawn(fn() => str_increment('az')),
        spawn(fn() => stream_context_set_options(stream_context_create(), ['http' => ['method' => 'PUT']])),
        spawn(fn() => http_get_last_response_headers()),
        spawn(fn() => fpow(2, 3)),
    ]);
    $still = !$waits->isCompleted();
    $open = true;
    T\check($function, [$still, Async\await($waits), $others] === [true, $expected, [$expected, 'ba', true, null, 8.0]], $others);
}
?>
--EXPECT--
array_find: yes
array_find_key: yes
array_any: yes
array_all: yes
