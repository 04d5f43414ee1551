<?php
namespace Matrix;

$zip = static function () { $zip = new \ZipArchive; $zip->open(scratch(suffix: '.zip'), \ZipArchive::CREATE); $zip->addFromString('a.txt', 'content a'); return $zip; };
check('ZipArchive::close', static function ($_, int $n) use ($zip) { $z = $zip(); $z->registerProgressCallback(0.1, static function ($x) { pause(); }); $z->registerCancelCallback(static function () { pause(); return 0; }); return $z->close(); }, in: 'ZipArchive::close');
check('ZipArchive::addFromString', static fn($z, int $n) => $z->addFromString(text("x$n.txt"), text("text $n")), $zip, static fn($z) => $z->count(), in: 'ZipArchive::addFromString');
check('ZipArchive::open', static fn($z, int $n) => $z->open(text("/none$n.zip")), static fn() => new \ZipArchive, in: 'ZipArchive::open');
check('ZipArchive::addFile, complaining', static fn($z, int $n) => noisily(fn() => $z->addFile('', "x$n", 0.5)), $zip, in: 'ZipArchive::addFile');
