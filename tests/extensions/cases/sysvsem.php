<?php
namespace Matrix;

$semaphore = static function () {
    $semaphore = \sem_get(\random_int(1, 0x7fffffff), 1, 0600);
    $pid = \getmypid();
    \register_shutdown_function(static fn() => \getmypid() === $pid && @\sem_remove($semaphore));
    return $semaphore;
};
check('sem_acquire', static function ($s, int $n) {
    $acquired = \sem_acquire($s);
    \usleep(20_000);
    return [$acquired, \sem_release($s)];
}, $semaphore, in: ['sem_acquire'], anywhere: true);
check('sem_acquire, complaining', static fn($s, int $n) => noisily(fn() => [\sem_acquire($s, null), \sem_release($s)]), $semaphore, apart: true, in: 'sem_acquire');
check('sem_get', static fn($s, int $n) => noisily(fn() => (bool) \sem_get(4711.5, 1, 0600, true) && \sem_remove(\sem_get(4711))), $semaphore, apart: true, in: 'sem_get');
