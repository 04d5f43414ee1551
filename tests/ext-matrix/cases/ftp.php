<?php
// needs: ftp peer ext:ftp
// FTP: the extension, over TLS too, and the ftp:// streams. What the server says on the control connection comes late.
namespace Matrix;

use Async;

$late = slowed(env('SPINDLE_FTP_PORT'), is_async() ? 30 : 1);

function ftp(string|int $port, bool $tls = false): \FTP\Connection
{
    $ftp = $tls ? \ftp_ssl_connect('127.0.0.1', (int) $port, 240) : \ftp_connect('127.0.0.1', (int) $port, 240);
    \ftp_login($ftp, 'spindle', env('SPINDLE_FTP_PASSWORD'));
    \ftp_pasv($ftp, true);
    return $ftp;
}

/** A local file and what is in it. */
function upload(int $i, int $times = 2000): array
{
    \file_put_contents($file = scratch('upload'), $text = \str_repeat("file $i\n", $times));
    return [$file, $text];
}

$work = function (int $i, bool $tls) use ($late): array {
    $ftp = ftp($late, $tls);
    $folder = unique('folder');
    [$file, $text] = upload($i);
    \ftp_mkdir($ftp, $folder);
    $done = [\ftp_put($ftp, "$folder/one", $file), \ftp_rename($ftp, "$folder/one", "$folder/two"), \ftp_size($ftp, "$folder/two")];
    $stream = \fopen('php://memory', 'w+');
    $done[] = \ftp_fget($ftp, $stream, "$folder/two");
    \rewind($stream);
    $done[] = \stream_get_contents($stream) === $text;
    $done[] = \array_map(fn($name) => \basename($name), \ftp_nlist($ftp, $folder));
    $done[] = \count(\ftp_rawlist($ftp, $folder));
    \ftp_chdir($ftp, $folder);
    $done[] = \basename(\ftp_pwd($ftp)) === $folder;
    $done[] = \ftp_append($ftp, 'two', $file);
    $done[] = \ftp_size($ftp, 'two');
    $done[] = \ftp_delete($ftp, 'two');
    $done[] = @\ftp_get($ftp, $file, 'two');
    \ftp_cdup($ftp);
    $done[] = \ftp_rmdir($ftp, $folder);
    \ftp_close($ftp);
    return $done;
};
matrix('put, get, list, rename, delete', fn(int $i) => $work($i, false), n: 6, ms: 900);
matrix('the same over TLS', fn(int $i) => $work($i, true), n: 4, ms: 1200);

matrix('ftp_nb_put, ftp_nb_get', function (int $i) use ($late): array {
    $ftp = ftp($late);
    [$file, $text] = upload($i, 50_000);
    $name = unique('nb');
    $rounds = 0;
    for ($state = \ftp_nb_put($ftp, $name, $file); $state === FTP_MOREDATA; $state = \ftp_nb_continue($ftp)) {
        $rounds++;
    }
    $states = [$state, $rounds > 0];
    for ($state = \ftp_nb_get($ftp, $file, $name); $state === FTP_MOREDATA; $state = \ftp_nb_continue($ftp)) {
        \usleep(100);
    }
    return [...$states, $state, \md5_file($file) === \md5($text), \ftp_delete($ftp, $name)];
}, n: 6, ms: 500);

matrix('ftp:// streams', function (int $i) use ($late): array {
    $url = 'ftp://spindle:' . env('SPINDLE_FTP_PASSWORD') . "@127.0.0.1:$late";
    $name = unique('stream');
    $written = \file_put_contents("$url/$name", $text = \str_repeat("stream $i\n", 2000));
    return [$written, \file_get_contents("$url/$name") === $text, \filesize("$url/$name"), \is_dir("$url/$name"), \unlink("$url/$name")];
}, n: 6, ms: 600);

matrix('a server that does not answer in time', function (): bool {
    return @\ftp_connect('127.0.0.1', slowed(env('SPINDLE_FTP_PORT'), 20_000), 1) === false;
}, n: 2, ms: 1000);

// --- one connection in several coroutines ------------------------------------------------------------------------------

$ftp = ftp($late);
matrix('one connection', function (int $i) use ($ftp): array {
    [$file, $text] = upload($i);
    $name = unique('shared');
    $done = [\ftp_put($ftp, $name, $file), \ftp_size($ftp, $name), \ftp_get($ftp, "$file.back", $name)];
    return [...$done, \file_get_contents("$file.back") === $text, \ftp_delete($ftp, $name)];
}, n: 4, ms: 500, evidence: 'ticks');

// --- cancellation ------------------------------------------------------------------------------------------------------

$fresh = function (): array {
    $ftp = ftp(env('SPINDLE_FTP_PORT'));
    [$file, $text] = upload(7);
    $done = [\ftp_put($ftp, 'fresh', $file), \ftp_get($ftp, $file, 'fresh'), \file_get_contents($file) === $text];
    \ftp_close($ftp);
    return $done;
};
cancelled('ftp_connect', fn() => ftp(slowed(env('SPINDLE_FTP_PORT'), 20_000)), $fresh);
cancelled('ftp:// stream', fn() => \file_get_contents('ftp://spindle@127.0.0.1:' . slowed(env('SPINDLE_FTP_PORT'), 20_000) . '/fresh'), $fresh);

with_coroutines('ftp_put, and the connection after it', function (Check $check): void {
    [$file] = upload(1);
    $ftp = cut_off($check, function () use (&$open): \FTP\Connection {
        $ftp = ftp(slowed(env('SPINDLE_FTP_PORT'), 500));
        $open = open_descriptors();
        return $ftp;
    }, fn(\FTP\Connection $ftp) => \ftp_put($ftp, 'cancelled', $file)); // some commands are answered
    $answer = @\ftp_pwd($ftp);
    $check->facts['the next call got'] = \json_encode($answer);
    \in_array($answer, ['/', false], true) or $check->problem('another one\'s answer: ' . \json_encode($answer));
    $check->warnings = [];
    no_descriptor_left($check, $open);
    \ftp_close($ftp);
});
