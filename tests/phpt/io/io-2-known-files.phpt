--TEST--
IO-2 files that are opened again, what has taken their place, and reading them whole
--EXTENSIONS--
ffi
posix
phar
--INI--
phar.readonly=0
--FILE--
<?php
use function Async\{await, delay, spawn, suspend};

require __DIR__ . '/kit.inc';
T\work_in();

// What procfs returns is short at any place: by a page or so. Threads that start meanwhile add some mappings.
await(spawn(function() {
    $mappings = fn(string $text) => substr_count($text, 'VmFlags');
    $whole = $mappings(file_get_contents('/proc/self/smaps'));
    $lines = $mappings(implode('', file('/proc/self/smaps')));
    $expected = $mappings(stream_get_contents(fopen('/proc/self/smaps', 'r')));
    T\check('procfs', $expected > 20 && min($whole, $lines) > $expected / 2, "$whole and $lines of $expected");
}));

// A FIFO where a file was: only the coroutine that opens it waits.
$path = getcwd() . '/name';
file_put_contents($path, "a file\n");
await(spawn(function() use ($path) {
    for ($i = 0; $i < 3; $i++) echo file_get_contents($path);
    include $path;
    echo implode('', file($path));
}));
unlink($path);
posix_mkfifo($path, 0600);
$reader = spawn(fn() => file_get_contents($path));
T\parked($reader);
await(spawn(fn() => file_put_contents($path, "a FIFO\n")));
echo await($reader);
unlink($path);
await(spawn(function() use ($path) {
    echo var_export(@file_get_contents($path), true), "\n";
    mkdir($path);
    echo var_export(@file_get_contents($path), true), "\n";
    rmdir($path);
    symlink('/dev/null', $path);
    echo var_export(file_get_contents($path), true), "\n";
    unlink($path);
    file_put_contents($path, "a file again\n");
    echo file_get_contents($path);
}));

// All of a file, in parts, of any size.
await(spawn(function() use ($path) {
    foreach ([0, 1, 4095, 4096, 4097, 8191, 8192, 8193, 20_000, 65_536, 300_000] as $size) {
        $bytes = str_repeat('0123456789', intdiv($size, 10) + 1);
        $bytes = substr($bytes, 0, $size);
        file_put_contents($path, $bytes);
        $same = file_get_contents($path) === $bytes
            && file_get_contents($path, offset: 1) === substr($bytes, 1)
            && file_get_contents($path, false, null, 4096) === substr($bytes, 4096)
            && file_get_contents($path, length: 5000) === substr($bytes, 0, 5000)
            && file_get_contents($path, length: 4096) . file_get_contents($path, offset: 4096) === $bytes
            && file_get_contents("file://$path") === $bytes
            && implode('', file($path)) === $bytes
            && md5_file($path) === md5($bytes);
        $same || print("WRONG: $size\n");
        // What was added shows at once, also where a descriptor was read to its end.
        $kept = fopen($path, 'r');
        stream_get_contents($kept);
        file_put_contents($path, 'more', FILE_APPEND);
        file_get_contents($path) === "{$bytes}more" || print("WRONG: $size, more\n");
        stream_get_contents($kept) === 'more' || print("WRONG: $size, read on\n");
        while (($line = fgets($kept)) !== false);
        file_put_contents($path, ' and more', FILE_APPEND);
        fseek($kept, ftell($kept));
        stream_get_contents($kept) === ' and more' || print("WRONG: $size, read further on\n");
    }
    echo "all sizes\n";
}));

// A part of it is not cached: what is there ends with a page.
await(spawn(function() use ($path) {
    $libc = FFI::cdef('int open(const char *path, int flags); int fdatasync(int fd); int posix_fadvise(int fd, long from, long length, int advice); int close(int fd);');
    $bytes = random_bytes(20_000);
    file_put_contents($path, $bytes);
    foreach ([0, 1, 100] as $offset) {
        $fd = $libc->open($path, 0);
        $libc->fdatasync($fd);
        $libc->posix_fadvise($fd, 8192, 0, 4); // POSIX_FADV_DONTNEED
        $libc->close($fd);
        $got = $offset ? file_get_contents($path, offset: $offset) : file_get_contents($path);
        $got === substr($bytes, $offset) || print("WRONG: from $offset: " . strlen($got) . "\n");
    }
    echo "what is not cached\n";
}));

// An archive is opened by a call that reads a file in it, and kept.
$archive = getcwd() . '/a.phar';
$phar = new Phar($archive);
$phar['one.txt'] = str_repeat('one ', 1000);
$phar['two.txt'] = str_repeat('two ', 3000);
$phar['main.php'] = '<?php
    $read = fn() => md5(file_get_contents("one.txt")) . md5(file_get_contents("two.txt"));
    $first = $read();
    for ($i = 0; $i < 5; $i++) if ($read() !== $first) echo "WRONG\n";
    return $first;';
unset($phar);
Phar::interceptFileFuncs();
$first = await(spawn(fn() => require "phar://$archive/main.php"));
echo $first === md5(str_repeat('one ', 1000)) . md5(str_repeat('two ', 3000)) ? "the archive\n" : "WRONG: the archive\n";
copy($archive, $other = getcwd() . '/b.phar');
await(spawn(function() use ($other) {
    foreach (['two', 'one', 'two', 'one', 'one'] as $name) {
        $expected = str_repeat("$name ", $name === 'one' ? 1000 : 3000);
        file_get_contents("phar://$other/$name.txt") === $expected || print("WRONG: $name\n");
    }
    echo "another one\n";
}));

// Files that others write to meanwhile are whole, as of some moment.
$log = getcwd() . '/log';
file_put_contents($log, '');
$writer = spawn(function() use ($log) {
    for ($i = 0; $i < 300; $i++) {
        file_put_contents($log, str_pad("line $i", 63) . "\n", FILE_APPEND);
        suspend();
    }
});
$readers = [];
for ($n = 0; $n < 5; $n++) {
    $readers[] = spawn(function() use ($log, $writer) {
        $seen = 0;
        do {
            $last = $writer->isCompleted();
            $lines = file($log);
            count($lines) >= $seen || print("WRONG: lines are gone\n");
            $seen = count($lines);
            foreach ($lines as $i => $line) str_starts_with($line, "line $i ") || print("WRONG: $line\n");
            suspend();
        } while (!$last);
        return $seen;
    });
}
echo implode(' ', T\all($readers)), "\n";
?>
--EXPECT--
procfs: yes
a file
a file
a file
a file
a file
a FIFO
false
''
''
a file again
all sizes
what is not cached
the archive
another one
300 300 300 300 300
