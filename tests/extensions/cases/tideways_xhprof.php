<?php
namespace Matrix;

check('tideways_xhprof_enable', static fn($_, int $n) => [noisily(fn() => \tideways_xhprof_enable(null)), \is_array(\tideways_xhprof_disable() ?? [])], in: 'tideways_xhprof_enable');
