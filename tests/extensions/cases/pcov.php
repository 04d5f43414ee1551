<?php
namespace Matrix;

check('pcov\clear', static fn($_, int $n) => noisily(fn() => \pcov\clear(null)), in: 'pcov\clear');
check('pcov\collect', static fn($_, int $n) => noisily(fn() => \gettype(\pcov\collect(1.5))), in: 'pcov\collect');
