<?php
// ini: sendmail_path=true
namespace Matrix;

check('mb_ereg_replace_callback', static fn($_, int $n) => \mb_ereg_replace_callback([1 => '(\w)o', 2 => '(\w)r'][$n], static function (array $m) { pause(); \mb_ereg('x(y)', 'axy', $inner); return "<$m[1]>"; }, "some words of $n"), in: 'mb_ereg_replace_callback');
// A pattern is kept for the next call, until it comes with other options.
check('mb_ereg_replace_callback, with options', static fn($_, int $n) => \mb_ereg_replace_callback('(\w)o([a-z])', static function (array $m) use ($n) { pause(); return "<$m[1]$n$m[2]>"; }, 'some woRds Of oTher word', [1 => 'msr', 2 => 'imsr'][$n]), in: 'mb_ereg_replace_callback');
check('mb_ereg', static function ($_, int $n) { $found = \mb_ereg(text("(\\w)($n)"), text("a$n"), $m); return [$found, $m]; }, in: 'mb_ereg');
check('mb_ereg_search_init', static fn($_, int $n) => \mb_ereg_search_init(text("a b$n c"), text('\w+')), in: 'mb_ereg_search_init');
check('mb_split', static fn($_, int $n) => \mb_split(text(','), text("a,$n")), in: 'mb_split');
check('mb_convert_encoding', static fn($_, int $n) => \mb_convert_encoding(["\xe9$n", ["\xe8"]], text('UTF-8'), texts('ISO-8859-1')), in: 'mb_convert_encoding');
check('mb_detect_encoding', static fn($_, int $n) => \mb_detect_encoding(text("\u{e9}$n"), texts('ASCII', 'UTF-8')), in: 'mb_detect_encoding');
check('mb_detect_order', static fn($_, int $n) => \mb_detect_order(texts('ASCII', 'UTF-8')), in: 'mb_detect_order');
check('mb_substr', static fn($_, int $n) => \mb_substr(text("t\u{e9}xt$n"), 1, 4, text('UTF-8')), in: 'mb_substr');
check('mb_strimwidth', static fn($_, int $n) => noisily(fn() => \mb_strimwidth(text("t\u{e9}xt $n"), 1.5, 3, text('.'))), in: 'mb_strimwidth');
check('mb_parse_str', static fn($_, int $n) => noisily(static function () use ($n) { \mb_parse_str(text("a=$n&b[]=2"), $all); return $all; }), in: 'mb_parse_str');
check('mb_encode_mimeheader', static fn($_, int $n) => \mb_encode_mimeheader(text("Pr\u{fc}fung $n"), text('UTF-8'), text('Q')), in: 'mb_encode_mimeheader');
check('mb_encode_numericentity', static fn($_, int $n) => \mb_encode_numericentity(text("\u{e9}$n"), [0x80, 0xffff, 0, text('65535')]), in: 'mb_encode_numericentity');
check('mb_check_encoding', static fn($_, int $n) => noisily(fn() => \mb_check_encoding()), in: 'mb_check_encoding');
check('mb_convert_variables', static function ($_, int $n) { $a = ["\xe9$n"]; $b = (object) ['p' => "\xe8$n"]; return [noisily(function () use (&$a, &$b) { return \mb_convert_variables(text('UTF-8'), texts('ISO-8859-1'), $a, $b); }), $a, $b->p]; }, in: 'mb_convert_variables');
check('mb_output_handler', static fn($_, int $n) => \mb_output_handler(text("text $n"), PHP_OUTPUT_HANDLER_START | PHP_OUTPUT_HANDLER_END), in: 'mb_output_handler');
check('mb_send_mail', static fn($_, int $n) => noisily(fn() => \mb_send_mail(text('a@localhost'), text("s$n"), text("b\u{e9}"))), in: 'mb_send_mail');
check('mb_http_input', static fn($_, int $n) => \mb_http_input(text('I')), in: 'mb_http_input');
check('mb_substitute_character', static fn($_, int $n) => noisily(fn() => \mb_substitute_character(63.5)), in: 'mb_substitute_character');
