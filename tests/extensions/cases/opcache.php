<?php
// ini: opcache.enable=1
// ini: opcache.enable_cli=1
namespace Matrix;

\file_put_contents($file = scratch(suffix: '.php'), '<?php return 1;');
check('opcache_is_script_cached', static fn($_, int $n) => \is_bool(\opcache_is_script_cached(text($file))), in: 'opcache_is_script_cached');
check('opcache_invalidate', static fn($_, int $n) => \is_bool(\opcache_invalidate(text($file), true)), in: 'opcache_invalidate');
check('opcache_compile_file', static fn($_, int $n) => \is_bool(\opcache_compile_file(text($file))), in: 'opcache_compile_file');
check('opcache_get_status', static fn($_, int $n) => noisily(fn() => \is_array(\opcache_get_status(null))), in: 'opcache_get_status');
