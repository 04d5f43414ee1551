<?php
namespace Matrix;

check('iconv', static fn($_, int $n) => noisily(fn() => \iconv("none$n", 'UTF-8', "text $n")), in: 'iconv');
check('iconv, illegal', static fn($_, int $n) => noisily(fn() => \iconv('UTF-8', 'ASCII', "text $n \u{e9}")), in: 'iconv');
check('iconv_strpos', static fn($_, int $n) => \iconv_strpos(text("text $n"), text("$n"), 0, text('UTF-8')), in: 'iconv_strpos');
check('iconv_mime_encode', static fn($_, int $n) => \iconv_mime_encode(text('Subject'), text("Pr\u{fc}fung $n"), ['scheme' => 'Q', 'input-charset' => 'UTF-8', 'output-charset' => 'UTF-8']), in: 'iconv_mime_encode');
check('iconv_mime_decode', static fn($_, int $n) => noisily(fn() => \iconv_mime_decode("=?none$n?Q?text?= $n")), in: 'iconv_mime_decode');
check('iconv_mime_decode_headers', static fn($_, int $n) => \iconv_mime_decode_headers(text("Subject: =?UTF-8?Q?t=C3=A9$n?=\nX: y\n")), in: 'iconv_mime_decode_headers');
check('convert.iconv.*', static fn($_, int $n) => \file_get_contents('php://filter/read=convert.iconv.UTF-8.UTF-16LE/resource=' . slow("text $n \u{e9}")), anywhere: true);
check('convert.iconv.*, illegal', static fn($_, int $n) => noisily(fn() => \file_get_contents('php://filter/read=convert.iconv.UTF-8.ASCII/resource=' . slow("text $n \u{e9} more"))), anywhere: true);
check('iconv_set_encoding', static fn($_, int $n) => noisily(fn() => \iconv_set_encoding('internal_encoding', "none$n")), in: 'iconv_set_encoding');
