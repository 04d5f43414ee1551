<?php
namespace Matrix;

check('gmp_add', static fn($a, int $n) => noisily(fn() => (string) \gmp_add($a, \gmp_init($n, 10.5))), static fn() => \gmp_init(5), in: 'gmp_init');
check('gmp_import', static fn($_, int $n) => (string) \gmp_import(text("ab$n")), in: 'gmp_import');
check('gmp_pow', static fn($a, int $n) => noisily(fn() => (string) \gmp_pow($a, $n + 0.5)), static fn() => \gmp_init(5), in: 'gmp_pow');
