<?php
// needs: ftp peer
namespace Matrix;

$late = slowed(env('SPINDLE_FTP_PORT'));
$connect = static function () use ($late) { $f = \ftp_connect('127.0.0.1', $late, 10); \ftp_login($f, 'spindle', env('SPINDLE_FTP_PASSWORD')); \ftp_pasv($f, true); return $f; };
$full = static function () use ($connect) { $f = $connect(); $name = unique('file'); \ftp_fput($f, $name, \fopen('data:,' . \str_repeat('text', 2000), 'r')); return [$f, $name]; };
check('ftp_pwd', static fn($f, int $n) => \ftp_pwd($f), $connect, in: 'ftp_pwd');
check('ftp_fget', static fn($f, int $n) => [\ftp_fget($f[0], \fopen($to = slow(''), 'w'), $f[1]), \md5(written($to))], $full, in: 'ftp_fget');
check('ftp_fput', static fn($f, int $n) => [\ftp_fput($f, $name = unique('up'), slow_stream("text $n")), \ftp_size($f, $name)], $connect, in: 'ftp_fput');
check('ftp_get', static fn($f, int $n) => [\ftp_get($f[0], $to = slow(''), $f[1]), \md5(written($to))], $full, in: 'ftp_get');
check('ftp_put', static fn($f, int $n) => \ftp_put($f, unique('up'), slow("text $n")), $connect, in: 'ftp_put');
check('ftp_nlist', static fn($f, int $n) => \count(\ftp_nlist($f[0], $f[1])), $full, in: 'ftp_nlist');
check('ftp_nb_fget', static function ($f, int $n) { $stream = \fopen($to = slow(''), 'w'); $state = \ftp_nb_fget($f[0], $stream, $f[1]); while ($state === FTP_MOREDATA) $state = \ftp_nb_continue($f[0]); return [$state, \md5(written($to))]; }, $full, apart: true, in: ['ftp_nb_fget', 'ftp_nb_continue']);
check('complaining', static fn($f, int $n) => noisily(fn() => \ftp_chdir($f, "none$n")), $connect, in: 'ftp_chdir');
check('ftp_connect', static fn($_, int $n) => \get_class(\ftp_connect(text('127.0.0.1'), $late, 10)), in: 'ftp_connect');
