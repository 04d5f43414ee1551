<?php
namespace Matrix;

$callback = static function ($x) { pause(); return "<$x>"; };
check('filter_var', static fn($_, int $n) => \filter_var("a$n", FILTER_CALLBACK, ['options' => $callback]), in: 'filter_var');
check('filter_var, arrays', static fn($_, int $n) => \filter_var(["a$n", ['b', ['c']]], FILTER_CALLBACK, ['options' => $callback, 'flags' => FILTER_FORCE_ARRAY]), in: 'filter_var');
check('filter_var_array', static fn($_, int $n) => \filter_var_array(['a' => "a$n", 'b' => "$n", 'c' => text("$n.5")], ['a' => ['filter' => FILTER_CALLBACK, 'options' => $callback], 'b' => FILTER_VALIDATE_INT, 'c' => FILTER_VALIDATE_FLOAT]), in: 'filter_var_array');
check('filter_var, of one array', static fn($array, int $n) => \filter_var($array->items, FILTER_CALLBACK, ['options' => $callback]), static fn() => (object) ['items' => ['a', ['b', ['c']]]], in: 'filter_var');
check('filter_var, complaining', static fn($_, int $n) => noisily(fn() => \filter_var("a$n", FILTER_SANITIZE_STRING)), anywhere: true);
check('filter_input', static fn($_, int $n) => noisily(fn() => \filter_input(INPUT_GET, "none$n", FILTER_CALLBACK, ['options' => 'nothing'])) + [2 => (string) text($n)], anywhere: true);
