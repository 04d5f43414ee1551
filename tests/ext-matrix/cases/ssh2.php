<?php
// needs: ssh peer ext:ssh2
// SSH through libssh2. What the server says comes late.
namespace Matrix;

$late = slowed(env('SPINDLE_SSH_PORT'), is_async() ? 30 : 1);

function ssh(string|int $port)
{
    $ssh = \ssh2_connect('127.0.0.1', (int) $port);
    $key = env('SPINDLE_SSH_KEY');
    \ssh2_auth_pubkey_file($ssh, env('SPINDLE_SSH_USER'), "$key.pub", $key) ?: throw new \RuntimeException('not let in');
    return $ssh;
}

function output($ssh, string $command): string
{
    $stream = \ssh2_exec($ssh, $command);
    \stream_set_blocking($stream, true);
    return \stream_get_contents($stream);
}

matrix('a command', fn(int $i) => output(ssh($late), 'sleep ' . seconds() . "; echo $i"), n: 6);

matrix('sftp', function (int $i) use ($late): array {
    $sftp = \ssh2_sftp($ssh = ssh($late));
    $url = 'ssh2.sftp://' . (int) $sftp . '/tmp/' . ($name = unique('sftp'));
    $done = [\file_put_contents($url, $text = \str_repeat("sftp $i\n", 5000)), \file_get_contents($url) === $text];
    $done[] = \ssh2_sftp_stat($sftp, "/tmp/$name")['size'];
    $done[] = \ssh2_sftp_rename($sftp, "/tmp/$name", "/tmp/$name.new");
    $done[] = \ssh2_sftp_unlink($sftp, "/tmp/$name.new");
    return $done;
}, n: 5, ms: 800); // much of it is computing: encryption, on both sides

matrix('scp', function (int $i) use ($late): array {
    $ssh = ssh($late);
    \file_put_contents($file = scratch('scp'), $text = \str_repeat("scp $i\n", 2000));
    $there = '/tmp/' . unique('scp');
    $done = [\ssh2_scp_send($ssh, $file, $there), \ssh2_scp_recv($ssh, $there, "$file.back"), \file_get_contents("$file.back") === $text];
    output($ssh, "rm $there");
    return $done;
}, n: 5, ms: 800); // much of it is computing: encryption, on both sides

cancelled('ssh2_connect', fn() => ssh(slowed(env('SPINDLE_SSH_PORT'), 20_000)), fn() => output(ssh(env('SPINDLE_SSH_PORT')), 'echo fine'));
// (the library waits for the end of the command, to close)
cancelled('a command, cancelled', fn() => output(ssh(env('SPINDLE_SSH_PORT')), 'sleep 2'), fn() => output(ssh(env('SPINDLE_SSH_PORT')), 'echo fine'), within: 4.0);

$shared = ssh(env('SPINDLE_SSH_PORT'));
matrix('commands on one connection', fn(int $i) => output($shared, 'sleep ' . seconds(50) . "; echo $i"), n: 6, evidence: 'none');
