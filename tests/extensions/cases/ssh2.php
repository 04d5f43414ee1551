<?php
// needs: ssh peer
namespace Matrix;

$late = slowed(env('SPINDLE_SSH_PORT'));
$connect = static function () use ($late) { $s = \ssh2_connect('127.0.0.1', $late); \ssh2_auth_pubkey_file($s, env('SPINDLE_SSH_USER'), env('SPINDLE_SSH_KEY') . '.pub', env('SPINDLE_SSH_KEY')); return $s; };
$sftp = static fn() => [$s = $connect(), \ssh2_sftp($s)];
check('ssh2_exec', static function ($s, int $n) { $stream = \ssh2_exec($s, "sleep 0.02; echo $n"); \stream_set_blocking($stream, true); return \stream_get_contents($stream); }, $connect, anywhere: true);
check('ssh2_exec, of objects', static function ($s, int $n) { $stream = \ssh2_exec($s, text("echo $n")); \stream_set_blocking($stream, true); return \stream_get_contents($stream); }, $connect, in: 'ssh2_exec');
check('ssh2_scp_recv', static function ($s, int $n) { \file_put_contents($from = scratch(), "text $n"); return [\ssh2_scp_recv($s, $from, $to = scratch()), \file_get_contents($to)]; }, $connect, in: 'ssh2_scp_recv');
check('ssh2_sftp', static function ($s, int $n) { \file_put_contents($from = scratch(), \str_repeat('x', $n)); return \ssh2_sftp_stat($s[1], $from)['size']; }, $sftp, in: 'ssh2_sftp_stat');
check('ssh2_sftp, made', static fn($s, int $n) => \get_resource_type(\ssh2_sftp($s)), $connect, apart: true, in: 'ssh2_sftp');
check('ssh2.sftp://', static function ($s, int $n) { \file_put_contents($from = scratch(), "text $n"); return \file_get_contents('ssh2.sftp://' . (int) $s[1] . $from); }, $sftp, anywhere: true);
check('ssh2.sftp://, an sftp for each', static function ($s, int $n) { \file_put_contents($from = scratch(), "text $n"); $sftp = \ssh2_sftp($s); return \file_get_contents('ssh2.sftp://' . (int) $sftp . $from); }, $connect, anywhere: true);
check('copying from ssh2.sftp://', static function ($s, int $n) { \file_put_contents($from = scratch(), "text $n"); return [\copy('ssh2.sftp://' . (int) $s[1] . $from, $to = slow('')), written($to)]; }, $sftp, anywhere: true);
check('ssh2_connect', static fn($_, int $n) => \get_resource_type($connect()), in: ['ssh2_connect', 'ssh2_auth_pubkey_file']);
check('callbacks', static fn($_, int $n) => \get_resource_type(\ssh2_connect('127.0.0.1', $late, [], ['debug' => static function () { pause(); }, 'ignore' => static function () { pause(); }, 'disconnect' => static function () { pause(); }])), in: 'ssh2_connect');
check('ssh2_auth_password', static fn($s, int $n) => noisily(fn() => \ssh2_auth_password($s, "none$n", 'wrong')), static fn() => \ssh2_connect('127.0.0.1', $late), apart: true, in: 'ssh2_auth_password');
