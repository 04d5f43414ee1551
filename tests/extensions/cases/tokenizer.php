<?php
namespace Matrix;

check('token_get_all', static fn($_, int $n) => \count(\token_get_all(text("<?php echo $n + 1;"))), in: 'token_get_all');
check('token_get_all, parsed', static fn($_, int $n) => noisily(fn() => \count(\token_get_all("<?php echo '$n'; 0777777777777777777777;", TOKEN_PARSE + 0.5))), in: 'token_get_all');
check('PhpToken::tokenize', static fn($_, int $n) => \array_map(strval(...), \PhpToken::tokenize(text("<?php echo $n;"))), in: 'PhpToken::tokenize');
check('PhpToken::tokenize, of a class on demand', static function ($_, int $n) { $constants = on_demand("const C = $n;"); $class = on_demand("public \$x = $constants::C;", 'extends PhpToken'); \class_exists($class); return \array_map(static fn($t) => [$t->text, $t->x], $class::tokenize("<?php echo $n;")); }, in: 'PhpToken::tokenize');
check('token_name', static fn($_, int $n) => noisily(fn() => \token_name(300.5 + $n)), in: 'token_name');
