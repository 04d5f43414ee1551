<?php
// ini: xdebug.mode=develop
namespace Matrix;

check('xdebug_var_dump', static fn($bag, int $n) => \strlen(\preg_replace('/\d+/', '', printed(static fn() => \xdebug_var_dump([$bag, $n]))[1])) > 20, static fn() => new Bag('x'), in: 'xdebug_var_dump');
check('xdebug_print_function_stack', static fn($_, int $n) => \str_contains(printed(static fn() => \xdebug_print_function_stack(text("message $n")))[1], "message $n"), in: 'xdebug_print_function_stack');
check('xdebug_call_file', static fn($_, int $n) => noisily(fn() => \basename((string) \xdebug_call_file(1.5))), in: 'xdebug_call_file');
