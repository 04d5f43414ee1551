<?php
// needs: ext:gd ext:imagick
// Drawing computes: it does not give way, and answers as ever, on threads of a library's own too.
namespace Matrix;

matrix('gd', function (int $i): string {
    $image = \imagecreatetruecolor(300, 300);
    \imagefilledellipse($image, 150, 150, 50 + $i, 200, \imagecolorallocate($image, 10 * $i, 100, 200));
    \imagefilter($image, IMG_FILTER_GAUSSIAN_BLUR);
    $small = \imagescale($image, 100, 100);
    \imagepng($small, $file = scratch('png'));
    return \md5_file($file) . \imagecolorat(\imagecreatefrompng($file), 50, 50);
}, n: 5, evidence: 'none');

matrix('imagick', function (int $i): array {
    $image = new \Imagick;
    $image->newImage(300, 300, new \ImagickPixel("rgb(10, 20, $i)"));
    $draw = new \ImagickDraw;
    $draw->setFillColor('white');
    $draw->circle(150, 150, 150, 100 + $i);
    $image->drawImage($draw);
    $image->resizeImage(100, 100, \Imagick::FILTER_LANCZOS, 1);
    $image->blurImage(2, 1);
    $image->setImageFormat('png');
    $image->writeImage($file = scratch('png'));
    return [(new \Imagick($file))->getImageSignature(), $image->getImageSignature()];
}, n: 5, evidence: 'none');
