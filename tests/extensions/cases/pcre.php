<?php
namespace Matrix;

$upper = static function (array $m): string { pause(); \preg_match('/(in)(ner)/', 'some inner text'); return \strtoupper(\end($m)); };
$many = '/' . \str_repeat('(x?)', 40) . '(\w)\b/';
check('preg_replace_callback', static fn($_, int $n) => \preg_replace_callback('/(\w)\b/', $upper, "some words of $n"), in: 'preg_replace_callback');
check('preg_replace_callback, many groups', static fn($_, int $n) => \preg_replace_callback([1 => $many, 2 => '/(\w)\b/'][$n], $upper, "some words of $n"), in: 'preg_replace_callback');
check('preg_replace_callback_array', static fn($_, int $n) => \preg_replace_callback_array(['/(\w)\b/' => $upper, '/(O)/' => $upper], "some words of $n"), in: 'preg_replace_callback_array');
check('preg_replace, of many', static fn($_, int $n) => \preg_replace(texts('/a/', "/b$n/"), texts("x$n", 'y'), texts("ab$n", 'b2a')), in: 'preg_replace');
check('preg_filter', static fn($_, int $n) => \preg_filter(texts('/a/', "/b$n/"), texts("x$n", 'y'), texts("ab$n", 'zz')), in: 'preg_filter');
check('preg_replace_callback, of many', static fn($_, int $n) => \preg_replace_callback([text('/(\w)(\w)/'), $many, "k$n" => '/o/i'], $upper, texts("some words of $n", 'more')), in: 'preg_replace_callback');
check('preg_grep', static fn($_, int $n) => \array_map(strval(...), \preg_grep("/(a)(.)?$n/", texts("a$n", 'b', 'ax1', 'ay2'))), in: 'preg_grep');
check('preg_match', static function ($_, int $n) { \preg_match(text("/(\w)($n)/"), text("a$n"), $m); return $m; }, in: 'preg_match');
check('preg_match, wrong', static fn($_, int $n) => noisily(fn() => \preg_match("/($n/", 'x')), in: 'preg_match');
check('preg_split', static fn($_, int $n) => \preg_split(text('/,/'), text("a,$n")), in: 'preg_split');
check('preg_quote', static fn($_, int $n) => \preg_quote(text("a.$n"), text('/')), in: 'preg_quote');
