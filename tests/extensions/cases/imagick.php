<?php
namespace Matrix;

$image = static function (int $n = 1) { $im = new \Imagick; $im->newImage(4 * $n, 5, 'red'); $im->setImageFormat('png'); return $im; };
$bytes = [1 => $image(1)->getImageBlob(), 2 => $image(2)->getImageBlob()];
check('Imagick::readImageBlob', static fn($im, int $n) => [$im->readImageBlob(text($bytes[$n]))], static fn() => new \Imagick, static fn($im) => $im->getNumberImages(), in: 'Imagick::readImageBlob');
check('Imagick::readImageFile', static fn($im, int $n) => [$im->readImageFile(\fopen(slow($bytes[$n]), 'r'))], static fn() => new \Imagick, static fn($im) => $im->getNumberImages(), in: 'Imagick::readImageFile');
check('Imagick::writeImageFile', static fn($im, int $n) => [$im->writeImageFile(\fopen($to = slow(''), 'w')), \strlen(written($to)) > 60], $image, in: 'Imagick::writeImageFile');
check('Imagick::setProgressMonitor', static function ($im, int $n) {
    $im->setProgressMonitor(static function () { pause(); return true; });
    return [$im->resizeImage(40 * $n, 40, \Imagick::FILTER_LANCZOS, 1), $im->getImageWidth()];
}, $image, apart: true, anywhere: true);
check('ImagickDraw::annotation', static fn($draw, int $n) => $draw->annotation(1, 1, text("t$n")), static fn() => new \ImagickDraw, in: 'ImagickDraw::annotation');
check('ImagickPixel', static fn($_, int $n) => (new \ImagickPixel(text([1 => 'red', 2 => 'blue'][$n])))->getColorAsString(), in: 'ImagickPixel::__construct');
