<?php
namespace Matrix;

$memory = static function (): array {
    $memory = \shm_attach($key = \random_int(1, 0x7fffffff), 20000, 0600);
    $pid = \getmypid();
    \register_shutdown_function(static fn() => \getmypid() === $pid && @\shm_remove($memory));
    \shm_put_var($memory, 1, \str_repeat('first', 20));
    \shm_put_var($memory, 2, bags(3));
    \shm_put_var($memory, 3, bags(4));
    return [$memory, $key];
};
check('shm_put_var', static fn($m, int $n) => \shm_put_var($m[0], $n, bags($n)), $memory, static fn($m) => [\shm_get_var($m[0], 1), \shm_get_var($m[0], 2)], in: 'shm_put_var');
check('shm_get_var', static fn($m, int $n) => \shm_get_var($m[0], $n + 1), $memory, in: 'shm_get_var');
// What is read lies in the memory that the other one writes to.
check('shm_get_var, and another writes', static fn($m, int $n) => noisily(fn() => $n === 1 ? \array_map(static fn($x) => $x->a ?? $x, \shm_get_var($m[0], 4)) : \shm_put_var($m[0], 1, \str_repeat('longer', 40))), static function () use ($memory) {
    $m = $memory();
    // An object whose class is not known yet, behind which there is more.
    $name = on_demand('public $a;');
    $text = 'a:2:{i:0;O:' . \strlen($name) . ":\"$name\":1:{s:1:\"a\";i:5;}i:1;s:8:\"the tail\";}";
    \shm_put_var($m[0], 4, \unserialize($text, ['allowed_classes' => false]));
    return $m;
}, in: 'shm_get_var', follows: true);
check('shm_get_var by two attachments', static fn($m, int $n) => noisily(fn() => $n === 1 ? \array_map(static fn($x) => $x->a ?? $x, \shm_get_var($m[0], 4)) : \shm_put_var(\shm_attach($m[1]), 1, \str_repeat('longer', 40))), static function () use ($memory) {
    $m = $memory();
    $name = on_demand('public $a;');
    \shm_put_var($m[0], 4, \unserialize('a:2:{i:0;O:' . \strlen($name) . ":\"$name\":1:{s:1:\"a\";i:5;}i:1;s:8:\"the tail\";}", ['allowed_classes' => false]));
    return $m;
}, in: 'shm_get_var', follows: true);
