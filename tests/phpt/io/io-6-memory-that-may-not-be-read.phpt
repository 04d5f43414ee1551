--TEST--
IO-6 where a container forbids to read memory through the kernel, what waits is reported at its spawn, meanwhile without a name
--EXTENSIONS--
ffi
--SKIPIF--
<?php
if (trim((string) shell_exec('command -v cc')) === '') die('skip no C compiler');
?>
--FILE--
<?php
require __DIR__ . '/kit.inc';

T\work_in(['container.c' => <<<'C'
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <errno.h>
    #include <sys/uio.h>

    /* PHP wants the calls of an extension to pass by the likes of this. */
    void *dlopen(const char *name, int flags)
    {
        static void *(*next)(const char *, int);
        if (!next) next = (void *(*)(const char *, int)) dlsym(RTLD_NEXT, "dlopen");
        return next(name, flags & ~RTLD_DEEPBIND);
    }

    ssize_t process_vm_readv(pid_t pid, const struct iovec *to, unsigned long n, const struct iovec *from, unsigned long m,
                             unsigned long flags)
    {
        errno = EPERM;
        return -1;
    }
    C]);
exec('cc -O1 -shared -fPIC -o container.so container.c -ldl 2>&1', $output, $status);
T\check('compiled', $status === 0, implode("\n", $output));

$code = <<<'PHP'
    Async\spawn(fn() => Async\delay(10));
    $libc = FFI::cdef('int usleep(unsigned int);');
    $task = fn() => $libc->usleep(TIME);
    Async\await(Async\spawn($task));
    PHP;
$start = 'export LD_PRELOAD="$PWD/container.so $LD_PRELOAD"; exec ' . T\interpreter('-d async.block_warning_ms=60 -r') . ' ';

$ended = T\command('sh -c ' . escapeshellarg($start . escapeshellarg(str_replace('TIME', '900_000', $code))));
T\check('the report', preg_match('~Coroutine #3 \(spawned at .*:4\) has blocked the event loop for \d+ ms.* on line 4$~m', $ended->output), $ended);

// it is ended when it has said so
$process = proc_open($start . escapeshellarg(str_replace('TIME', '900_000_000', $code)), [1 => ['pipe', 'w'], 2 => ['redirect', 1]], $pipes);
for ($output = ''; ($line = fgets($pipes[1])) !== false && !str_contains($output .= $line, 'Spindle:'); );
proc_terminate($process, SIGKILL);
T\check('standard error', preg_match('~^Spindle: a coroutine has been blocking the event loop for \d+ seconds and still does( \(system call .*\))?$~m', $output), $output);
?>
--EXPECT--
compiled: yes
the report: yes
standard error: yes
