--TEST--
IO-2 msync() of a library, as that of dba_sync(), gives way while a mapped file is written back
--EXTENSIONS--
ffi
--SKIPIF--
<?php
if (!shell_exec('command -v cc')) die('skip there is no C compiler');
?>
--INI--
ffi.enable=1
--FILE--
<?php
use function Async\{await, spawn};

require __DIR__ . '/kit.inc';
T\work_in(['mapped' => str_repeat('.', 4096), 'lib.c' => <<<'C'
    #include <errno.h>
    #include <fcntl.h>
    #include <string.h>
    #include <sys/mman.h>
    #include <unistd.h>

    static char *memory;

    int map(const char *path)
    {
        int fd = open(path, O_RDWR);
        memory = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        return close(fd);
    }
    void put(const char *text) { memcpy(memory, text, strlen(text)); }
    int write_back(int flags) { return msync(memory, 4096, flags) ? errno : 0; }
    C]);
passthru('cc -shared -fPIC -O1 -w -o lib.so lib.c 2>&1');
$lib = FFI::cdef('int map(const char *path); void put(const char *text); int write_back(int flags);', getcwd() . '/lib.so');
$lib->map('mapped');
const MS_ASYNC = 1, MS_SYNC = 4, EINVAL = 22;

$job = spawn(function () use ($lib) { $lib->put('kept'); return $lib->write_back(MS_SYNC); });
T\begun($job);
T\check('it gives way', ($job->getAwaitingInfo()['call'] ?? '') === 'msync', $job->getAwaitingInfo());
echo await($job), ' ', file_get_contents('mapped', length: 5), "\n";
T\check('its error', await(spawn(fn() => $lib->write_back(MS_SYNC | MS_ASYNC))) === EINVAL);
T\begun($job = spawn(fn() => $lib->write_back(MS_ASYNC)));
T\check('one that does not wait returns first', $job->isCompleted());

$job = spawn(function () use ($lib, &$returned) { $returned = $lib->write_back(MS_SYNC); Async\suspend(); });
T\begun($job);
$job->cancel();
echo get_class(T\failure($job)), "\n";
?>
--EXPECT--
it gives way: yes
0 kept.
its error: yes
one that does not wait returns first: yes
Async\CancellationException
