<?php
// ini: apc.enable_cli=1
namespace Matrix;

check('apcu_store', static fn($_, int $n) => \apcu_store("k$n", bags($n)), null, static fn() => [\apcu_fetch('k1'), \apcu_fetch('k2')], in: 'apcu_store');
check('apcu_fetch', static function ($_, int $n) { return \apcu_fetch("f$n"); }, static function () { \apcu_store(['f1' => bags(1), 'f2' => bags(2)]); return 0; }, in: 'apcu_fetch');
check('apcu_entry', static function ($key, int $n) { return \apcu_entry("$key$n", static function ($key) { pause(); return "made for $key"; }); }, static function () { static $count = 0; \apcu_clear_cache(); return 'e'; }, in: 'apcu_entry');
