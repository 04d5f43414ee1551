<?php
// ini: phar.readonly=0
namespace Matrix;

$phar = static function () { $phar = new \Phar(scratch(suffix: '.phar')); $phar['a.txt'] = 'content a'; $phar['b.txt'] = \str_repeat('content b', 5); $phar->setMetadata(bags(1)); return $phar; };
check('Phar::buildFromIterator', static function ($phar, int $n) {
    \file_put_contents($file = scratch(suffix: '.txt'), "text $n");
    return \array_keys($phar->buildFromIterator(new Items(["x$n.txt" => $file, "dir/y$n.txt" => $file])));
}, $phar, static fn($phar) => \count($phar), in: 'Phar::buildFromIterator');
check('Phar::buildFromIterator, of streams', static fn($phar, int $n) => \array_keys($phar->buildFromIterator(new Items(["x$n.txt" => slow_stream("text $n")]))), $phar, static fn($phar) => [\file_get_contents($phar['x1.txt']->getPathname()), \file_get_contents($phar['x2.txt']->getPathname())], in: 'Phar::buildFromIterator');
check('Phar::addFile', static fn($phar, int $n) => $phar->addFile(slow("text $n"), "x$n.txt"), $phar, static fn($phar) => [$phar['x1.txt']->getContent(), $phar['x2.txt']->getContent()], in: 'Phar::addFile');
check('Phar::setMetadata', static fn($phar, int $n) => $phar->setMetadata(bags($n)), $phar, in: 'Phar::setMetadata');
check('Phar::offsetSet', static fn($phar, int $n) => $phar->offsetSet(text("x$n.txt"), text("text $n")), $phar, static fn($phar) => \count($phar), in: 'Phar::offsetSet');
check('Phar::offsetSet of a stream', static function ($phar, int $n) { $phar["x$n.txt"] = slow_stream("text $n"); return 1; }, $phar, static fn($phar) => [$phar['x1.txt']->getContent(), $phar['x2.txt']->getContent()], anywhere: true);
check('reading an entry', static fn($phar, int $n) => \file_get_contents('php://filter/read=string.rot13/resource=phar://' . $phar->getPath() . '/' . text([1 => 'a.txt', 2 => 'b.txt'][$n])), $phar, anywhere: true);
check('printing an entry', static fn($phar, int $n) => printed(static fn() => \readfile('phar://' . $phar->getPath() . '/' . [1 => 'a.txt', 2 => 'b.txt'][$n])), $phar, anywhere: true);
check('copying an entry', static fn($phar, int $n) => [\copy('phar://' . $phar->getPath() . '/' . [1 => 'a.txt', 2 => 'b.txt'][$n], $to = slow('')), written($to)], $phar, anywhere: true);
check('writing an entry', static fn($phar, int $n) => \copy(slow("text $n"), 'phar://' . $phar->getPath() . "/x$n.txt"), $phar, static fn($phar) => \file_get_contents('phar://' . $phar->getPath() . '/a.txt'), anywhere: true);
check('Phar::__construct', static fn($_, int $n) => noisily(fn() => new \Phar(text("/none$n/x.phar"))), in: 'Phar::__construct');
check('Phar::mount', static fn($_, int $n) => noisily(fn() => \Phar::mount(text("phar:///none$n/x"), text('/none'))), in: 'Phar::mount');
