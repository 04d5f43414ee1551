<?php
namespace Matrix;

check('bcadd', static fn($_, int $n) => \bcadd(text("1.$n"), text('2'), 3), in: 'bcadd');
check('bcpowmod', static fn($_, int $n) => \bcpowmod(text("1$n"), text('2'), text('7')), in: 'bcpowmod');
check('bcsqrt', static fn($_, int $n) => noisily(fn() => \bcsqrt("$n", 2.5)), in: 'bcsqrt');
