<?php
// stdin: 100
namespace Matrix;

check('readline', static function ($_, int $n) { for ($i = 0; $i < 8; $i++) $all[] = \gettype(\readline()); return $all; }, in: 'readline');
check('readline_add_history', static fn($_, int $n) => \readline_add_history(text("line $n")), in: 'readline_add_history');
check('readline_info', static fn($_, int $n) => noisily(fn() => \readline_info(text('readline_name'))), in: 'readline_info');
check('readline_read_history', static fn($_, int $n) => \readline_read_history(text("/none$n")), in: 'readline_read_history');
check('readline_completion_function', static fn($_, int $n) => \readline_completion_function([on_demand('static function f() { return []; }'), 'f']), in: 'readline_completion_function');
