<?php
/** withTimeout() of a function that returns at once: ns more than the call itself. */
require __DIR__ . '/../lib/suite.php';

use function Async\withTimeout;

bench('ns', warm: 1000,
    spindle: static function (int $n): float {
        $task = static fn(int $x): int => $x;
        $start = now();
        for ($i = 0; $i < $n; $i++) {
            $task($i);
        }
        $between = now();
        for ($i = 0; $i < $n; $i++) {
            withTimeout(1000, $task, $i);
        }
        return (now() - $between - ($between - $start)) / $n;
    },
);
