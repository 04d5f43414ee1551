<?php
// Files, locks and named pipes.
namespace Matrix;

matrix('write, sync, read', function (int $i): array {
    $file = \fopen($name = scratch(), 'w+');
    $written = \fwrite($file, \str_repeat("content $i ", 20_000));
    $synced = [\fflush($file), \fsync($file), \fdatasync($file)];
    \rewind($file);
    $hash = \md5(\stream_get_contents($file));
    return [$written, $synced, $hash, \ftruncate($file, 10), \fstat($file)['size'], \fclose($file), \unlink($name)];
}, evidence: 'switch');

matrix('whole files', function (int $i): array {
    $name = scratch();
    $written = \file_put_contents($name, "one $i\ntwo\n");
    $appended = \file_put_contents($name, "three\n", FILE_APPEND | LOCK_EX);
    \copy($name, "$name.copy");
    $lines = [];
    foreach (new \SplFileObject("$name.copy") as $line) {
        $lines[] = $line;
    }
    return [$written, $appended, \file($name), $lines, \filesize($name), \rename($name, "$name.new"), \is_file($name)];
}, evidence: 'switch');

matrix('include', function (int $i): array {
    \file_put_contents($name = scratch() . '.php', "<?php usleep(1000); return [$i, __LINE__];");
    return include $name;
}, evidence: 'switch');

matrix('flock, one after another', function (int $i): array {
    // the file holds a counter; the lock makes reading and writing it one step
    static $name, $seen = [];
    $name ??= scratch('counter');
    $file = \fopen($name, 'c+');
    $locked = \flock($file, LOCK_EX);
    $count = (int) \stream_get_contents($file);
    \usleep(ms(40) * 1000);
    \rewind($file);
    \fwrite($file, (string) ($count + 1));
    \fflush($file);
    $is_new = !isset($seen[$count]); // who gets it next, the system decides
    $seen[$count] = true;
    return [$locked, $is_new && $count < 10, \flock($file, LOCK_UN)];
}, n: 10, ms: 400, evidence: 'ticks');

matrix('flock without waiting', function (int $i): array {
    $name = scratch('lock');
    $owner = \fopen($name, 'c');
    $other = \fopen($name, 'c');
    $first = \flock($owner, LOCK_EX);
    \usleep(ms() * 1000);
    $second = \flock($other, LOCK_EX | LOCK_NB, $would_block);
    \flock($owner, LOCK_UN);
    return [$first, $second, $would_block, \flock($other, LOCK_SH | LOCK_NB)];
}, n: 10);

matrix('flock that waits for another process', function (int $i): array {
    $name = \escapeshellarg($path = scratch('lock'));
    \touch($path);
    $holder = \popen("flock $name sh -c 'echo locked; sleep " . seconds() . "'", 'r');
    \fgets($holder);
    $file = \fopen($path, 'r');
    $start = \hrtime(true);
    $locked = \flock($file, LOCK_EX);
    return [$locked, (\hrtime(true) - $start) / 1e6 > ms() / 2, \pclose($holder)];
}, n: 8);

matrix('a named pipe: open waits for the other end', function (int $i): array {
    \posix_mkfifo($fifo = scratch('fifo'), 0600);
    $writer = beside(function () use ($fifo, $i): int {
        \usleep(ms(250) * 1000);
        $pipe = \fopen($fifo, 'w');
        \usleep(ms(250) * 1000);
        return \fwrite($pipe, "through $i\n");
    });
    $pipe = \fopen($fifo, 'r');
    return [\fgets($pipe), \fgets($pipe), \feof($pipe), $writer()];
}, n: 8);

matrix('a named pipe: more than it holds', function (int $i): array {
    \posix_mkfifo($fifo = scratch('fifo'), 0600);
    $writer = beside(function () use ($fifo, $i): int {
        return \file_put_contents($fifo, \str_repeat("much $i ", 100_000));
    });
    $pipe = \fopen($fifo, 'r');
    \usleep(ms(300) * 1000);
    $data = \stream_get_contents($pipe);
    return [\strlen($data), \md5($data), $writer()];
}, n: 6, ms: 300);

matrix('directories and temporary files', function (int $i): array {
    \mkdir($dir = scratch('dir'));
    foreach (['b', 'a', 'c'] as $name) {
        \touch("$dir/$name");
    }
    $temporary = \tmpfile();
    \fwrite($temporary, "temporary $i");
    \rewind($temporary);
    return [\scandir($dir), \array_map(\basename(...), \glob("$dir/*")), \fread($temporary, 100)];
}, evidence: 'none');

matrix('compressed files', function (int $i): array {
    $name = scratch('gz');
    \file_put_contents("compress.zlib://$name", \str_repeat("zipped $i ", 50_000));
    return [\filesize($name) < 20_000, \md5(\file_get_contents("compress.zlib://$name")), \strlen(\implode(\gzfile($name)))];
}, evidence: 'switch');
