<?php
namespace Matrix;

$data = [1 => "\x89PNG\r\n\x1a\n\0\0\0\rIHDR" . \str_repeat("\0", 30), 2 => "%PDF-1.4\nsome text"];
check('finfo_file', static fn($f, int $n) => \finfo_file($f, slow($data[$n])), static fn() => \finfo_open(FILEINFO_MIME_TYPE), in: 'finfo_file');
check('finfo::file', static fn($f, int $n) => $f->file(slow($data[$n])), static fn() => new \finfo, in: 'finfo::file');
check('finfo::buffer', static fn($f, int $n) => $f->buffer(text($data[$n]), FILEINFO_MIME), static fn() => new \finfo, in: 'finfo::buffer');
check('mime_content_type', static fn($_, int $n) => \mime_content_type(slow($data[$n])), in: 'mime_content_type');
check('finfo_open, wrong', static fn($_, int $n) => noisily(fn() => \finfo_open(FILEINFO_NONE, "/none$n")), in: 'finfo_open');
