<?php
namespace Matrix;

$open = static fn() => \dba_open(scratch(), 'n', 'flatfile');
check('dba_insert', static fn($d, int $n) => \dba_insert(text("k$n"), text("v$n"), $d), $open, static fn($d) => [\dba_fetch('k1', $d), \dba_fetch('k2', $d)], in: 'dba_insert');
check('dba_fetch', static fn($d, int $n) => \dba_fetch(texts("a", "k$n"), $d), static function () use ($open) { $d = $open(); \dba_insert('[a]k1', 'x', $d); return $d; }, in: 'dba_fetch');
check('dba_open', static fn($_, int $n) => noisily(fn() => \dba_open("/none$n", 'r', 'flatfile')), in: 'dba_open');
