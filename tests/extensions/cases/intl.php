<?php
namespace Matrix;

$collator = static fn() => new \Collator('de');
check('Collator::sort', static function ($c, int $n) { $a = texts("b$n", 'a', "\u{e4}", 'c'); $c->sort($a); return \array_map(strval(...), $a); }, $collator, in: 'Collator::sort');
check('Collator::asort', static function ($c, int $n) { $a = texts("b$n", '10', '9', 'a'); $c->asort($a, $n === 1 ? \Collator::SORT_STRING : \Collator::SORT_REGULAR); return \array_map(strval(...), $a); }, $collator, in: 'Collator::asort');
check('collator_sort_with_sort_keys', static function ($c, int $n) { $a = texts("b$n", 'a'); return noisily(static function () use ($c, &$a) { $c->sortWithSortKeys($a); return \array_map(strval(...), $a); }); }, $collator, anywhere: true);
check('Collator::compare', static fn($c, int $n) => $c->compare(text("a$n"), text('b')), $collator, in: 'Collator::compare');
check('MessageFormatter::format', static fn($m, int $n) => $m->format(['a' => text("x$n"), 'b' => $n]), static fn() => new \MessageFormatter('en', '{a} {b, number}'), in: 'MessageFormatter::format');
check('NumberFormatter::format', static fn($f, int $n) => $f->formatCurrency(1.5 * $n, text('EUR')), static fn() => new \NumberFormatter('en', \NumberFormatter::CURRENCY), in: 'NumberFormatter::formatCurrency');
check('Transliterator', static fn($t, int $n) => $t->transliterate(text("\u{e4}$n")), static fn() => \Transliterator::create('Any-Latin; Latin-ASCII'), in: 'Transliterator::transliterate');
check('UConverter', static fn($c, int $n) => $c->convert("a\xff$n"), static fn() => new class('UTF-8', 'UTF-8') extends \UConverter { function toUCallback(int $reason, string $source, string $units, &$error): string|int|array|null { pause(); $error = U_ZERO_ERROR; return '?'; } }, in: 'UConverter::convert');
check('IntlBreakIterator', static function ($b, int $n) { return $b->setText(text("some words $n")); }, static fn() => \IntlBreakIterator::createWordInstance('en'), in: 'IntlBreakIterator::setText');
check('IntlDateFormatter', static fn($f, int $n) => noisily(fn() => $f->parse(text("nonsense $n"))), static fn() => new \IntlDateFormatter('en', \IntlDateFormatter::SHORT, \IntlDateFormatter::NONE, 'UTC'), in: 'IntlDateFormatter::parse');
check('grapheme_extract', static fn($_, int $n) => \grapheme_extract(text("abc$n"), 2), in: 'grapheme_extract');
check('normalizer_normalize', static fn($_, int $n) => \normalizer_normalize(text("e\u{301}$n")), in: 'normalizer_normalize');
check('idn_to_ascii', static fn($_, int $n) => \idn_to_ascii(text("t\u{e4}st$n.de")), in: 'idn_to_ascii');
