<?php
namespace Matrix;

$memory = static function () {
    $memory = \shmop_open(\random_int(1, 0x7fffffff), 'n', 0600, 100);
    $pid = \getmypid();
    \register_shutdown_function(static fn() => \getmypid() === $pid && @\shmop_delete($memory));
    return $memory;
};
check('shmop_write', static fn($m, int $n) => \shmop_write($m, text("text $n"), 10 * $n), $memory, static fn($m) => \shmop_read($m, 0, 30), in: 'shmop_write');
check('shmop_read', static fn($m, int $n) => noisily(fn() => \shmop_read($m, $n + 0.5, 3)), $memory, in: 'shmop_read');
check('shmop_open', static fn($_, int $n) => noisily(fn() => \shmop_open(4700 + $n, text('a'), 0, 0)), in: 'shmop_open');
