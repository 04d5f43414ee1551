<?php
namespace Matrix;

$image = static function (int $n = 1) { $im = \imagecreatetruecolor(4 * $n, 5); \imagefill($im, 0, 0, 0x123456 * $n); return $im; };
$size = static fn($im) => $im ? [\imagesx($im), \imagesy($im), \imagecolorat($im, 1, 1)] : $im;
foreach (['png', 'gif', 'jpeg', 'webp', 'bmp', 'wbmp'] as $kind) {
    if (!\function_exists("imagecreatefrom$kind")) {
        continue;
    }
    $to = "image$kind";
    $from = "imagecreatefrom$kind";
    $bytes = [];
    foreach ([1, 2] as $n) {
        \ob_start();
        $to($image($n));
        $bytes[$n] = \ob_get_clean();
    }
    check($from, static fn($_, int $n) => $size($from(slow($bytes[$n]))), in: $from);
    check("$to to a stream", static fn($im, int $n) => [$to($im, \fopen($url = slow(''), 'w')), \md5(written($url))], $image, in: $to);
    check("$to to the output", static fn($im, int $n) => \md5(printed(static fn() => $to($im))[1]), $image, in: $to);
}
check('imagecreatefromstring, wrong', static fn($_, int $n) => noisily(fn() => \imagecreatefromstring("\x89PNG\r\n\x1a\n wrong $n")), in: 'imagecreatefromstring');
check('imagecreatefromgd2', static fn($_, int $n) => noisily(fn() => \imagecreatefromgd2(slow("gd2 wrong $n"))), in: 'imagecreatefromgd2');
check('imagestring', static fn($im, int $n) => \imagestring($im, $n, 0, 0, text("x$n"), 0xffffff), $image, in: 'imagestring');
check('imagefttext', static fn($im, int $n) => noisily(fn() => \imagefttext($im, 10, 0, 0, 0, 0, text("/none$n"), text('text'))), $image, in: 'imagefttext');
check('imagepolygon', static fn($im, int $n) => noisily(fn() => \imagepolygon($im, [1, 1, 3, 3, 2, text($n)], 3, 0)), $image, in: 'imagepolygon', anywhere: true);
check('imagesetpixel', static fn($im, int $n) => noisily(fn() => \imagesetpixel($im, $n + 0.5, 1, 0xffffff)), $image, static fn($im) => [\imagecolorat($im, 1, 1), \imagecolorat($im, 2, 1)], in: 'imagesetpixel');
