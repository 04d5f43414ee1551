<?php
namespace Matrix;

$bytes = static fn(int $n) => \bzcompress(\str_repeat("text $n", 50));
check('bzdecompress', static fn($_, int $n) => \bzdecompress(text($bytes($n))), in: 'bzdecompress');
check('bzopen', static fn($_, int $n) => noisily(fn() => \bzopen("/none$n", text('r'))), in: 'bzopen');
check('bzip2.decompress', static fn($_, int $n) => \file_get_contents('php://filter/read=bzip2.decompress/resource=' . slow($bytes($n))), anywhere: true);
check('bzip2.compress', static fn($_, int $n) => [\file_put_contents('php://filter/write=bzip2.compress/resource=' . ($to = slow('')), "text $n"), \bzdecompress(written($to))], anywhere: true);
check('bzwrite', static fn($f, int $n) => \bzwrite($f, text("text $n")), static fn() => \bzopen(scratch(), 'w'), in: 'bzwrite');
