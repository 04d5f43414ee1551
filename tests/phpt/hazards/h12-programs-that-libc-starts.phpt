--TEST--
H12 a program that is started without a fork that anybody is told of has none of our descriptors
--FILE--
<?php
use function Async\{await, spawn};

require __DIR__ . '/kit.inc';

$count = fn(array $open) => count(preg_grep('/eventpoll|eventfd/', $open));
await(spawn(function() use ($count) {
    T\check('there are some', $count(T\descriptors()) > 0);
    $p = popen('ls -l /proc/self/fd 2>/dev/null', 'r');
    T\check('the program has none', $count(explode("\n", stream_get_contents($p))) === 0);
    pclose($p);
}));
?>
--EXPECT--
there are some: yes
the program has none: yes
