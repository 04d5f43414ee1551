<?php
namespace Matrix;

$file = scratch(suffix: '.gz');
\file_put_contents($file, \gzencode(\str_repeat("some text\n", 20)));
check('readgzfile', static fn($_, int $n) => \md5(printed(static fn() => \readgzfile($file))[1]), in: 'readgzfile');
check('gzpassthru', static fn($f, int $n) => \strlen(printed(static fn() => \gzpassthru($f))[1]), static fn() => \gzopen($file, 'r'), in: 'gzpassthru');
check('gzfile', static fn($_, int $n) => \count(\gzfile(text($file))), in: 'gzfile');
check('gzputs', static fn($f, int $n) => \gzputs($f, text("line $n\n")), static fn() => \gzopen(scratch(suffix: '.gz'), 'w'), in: 'gzputs');
check('deflate_add', static fn($d, int $n) => \strlen(\deflate_add($d, text(\str_repeat("text $n", 50)), ZLIB_NO_FLUSH)), static fn() => \deflate_init(ZLIB_ENCODING_GZIP), static fn($d) => \strlen(\deflate_add($d, '', ZLIB_FINISH)) > 20, in: 'deflate_add');
check('deflate_init', static fn($_, int $n) => \strlen(\deflate_add(\deflate_init(ZLIB_ENCODING_DEFLATE, ['dictionary' => texts("words$n", 'other')]), "words$n", ZLIB_FINISH)), in: 'deflate_init');
check('inflate_add', static fn($i, int $n) => noisily(fn() => \inflate_add($i, text("no such data $n"))), static fn() => \inflate_init(ZLIB_ENCODING_GZIP), in: 'inflate_add');
check('gzuncompress', static fn($_, int $n) => noisily(fn() => \gzuncompress("wrong $n")), in: 'gzuncompress');
check('zlib.inflate', static fn($_, int $n) => \file_get_contents('php://filter/read=zlib.inflate/resource=' . slow(\gzdeflate(\str_repeat("text $n", 20)))), anywhere: true);
check('zlib.deflate', static fn($_, int $n) => [\file_put_contents('php://filter/write=zlib.deflate/resource=' . ($to = slow('')), ["text $n", 'more']), \gzinflate(written($to))], anywhere: true);
check('ob_gzhandler', static fn($_, int $n) => \gettype(\ob_gzhandler(text("text $n"), PHP_OUTPUT_HANDLER_START | PHP_OUTPUT_HANDLER_FINAL)), in: 'ob_gzhandler');
check('gzopen', static fn($_, int $n) => noisily(fn() => \gzopen("/none$n", 'r')), in: 'gzopen');
check('gzgets', static fn($f, int $n) => noisily(fn() => \gzgets($f, 5.5)), static fn() => \gzopen($file, 'r'), in: 'gzgets');
