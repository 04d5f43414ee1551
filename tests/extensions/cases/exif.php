<?php
namespace Matrix;

// The smallest JPEG with a comment and an EXIF block.
$image = static function (int $n): string {
    $text = "Maker $n\0";
    $tiff = "II*\0" . \pack('V', 8) . \pack('v', 1) . \pack('vvVV', 0x010f, 2, \strlen($text), 26) . \pack('V', 0) . $text;
    $exif = "Exif\0\0$tiff";
    return "\xff\xd8\xff\xe1" . \pack('n', \strlen($exif) + 2) . $exif . "\xff\xfe" . \pack('n', 8) . "comm$n\0" . "\xff\xc0" . \pack('nCnnC', 17, 8, 1, 1, 3) . "\1\x11\0\2\x11\1\3\x11\1" . "\xff\xd9";
};
check('exif_read_data', static fn($_, int $n) => noisily(fn() => \array_intersect_key((array) \exif_read_data(slow($image($n), '.jpg')), ['Make' => 1, 'COMMENT' => 1])), in: 'exif_read_data');
check('exif_read_data, of one stream', static fn($stream, int $n) => noisily(fn() => ((array) \exif_read_data($stream))['Make'] ?? null), static fn() => \fopen(slow($image(3)), 'r'), in: 'exif_read_data');
check('exif_imagetype', static fn($_, int $n) => \exif_imagetype(slow($image($n))), in: 'exif_imagetype');
check('exif_thumbnail', static fn($_, int $n) => noisily(fn() => \exif_thumbnail(slow($image($n)))), in: 'exif_thumbnail');
check('exif_tagname', static fn($_, int $n) => noisily(fn() => \exif_tagname(0x10f + $n + 0.5)), in: 'exif_tagname');
