--TEST--
IO-6 a library that waits for a thread of its own is named, with the system call; when that never ends, standard error says so meanwhile
--EXTENSIONS--
ffi
posix
--SKIPIF--
<?php
if (trim((string) shell_exec('command -v cc')) === '') die('skip no C compiler');
require __DIR__ . '/reads-memory.inc';
?>
--FILE--
<?php
require __DIR__ . '/kit.inc';

$folder = T\work_in(['slow.c' => <<<'C'
    #define _GNU_SOURCE
    #include <linux/futex.h>
    #include <pthread.h>
    #include <sys/syscall.h>
    #include <unistd.h>
    static volatile int answered;
    static void *worker(void *ms)
    {
        usleep((long)ms * 1000);
        answered = 1;
        syscall(SYS_futex, &answered, FUTEX_WAKE, 1, 0, 0, 0);
        return 0;
    }
    /* A client whose library works on a thread of its own, and waits for it in its own way: not by a condition. */
    int slow_query(long ms)
    {
        pthread_t thread;
        answered = 0;
        pthread_create(&thread, 0, worker, (void *)ms);
        pthread_detach(thread);
        while (!answered) syscall(SYS_futex, &answered, FUTEX_WAIT, 0, 0, 0, 0);
        return answered;
    }
    C]);
// "nodelete": the thread may still be in it when PHP lets go of the library
exec('cc -shared -fPIC -Wl,-z,nodelete -o libslow.so slow.c -lpthread 2>&1', $output, $status);
T\check('compiled', $status === 0, implode("\n", $output));

$code = <<<'PHP'
    $slow = FFI::cdef('int slow_query(long ms);', getcwd() . '/libslow.so');
    Async\spawn(fn () => Async\delay(10));
    $query = function (int $ms) use ($slow): int {
        return $slow->slow_query($ms); // line 5
    };
    echo Async\await(Async\spawn($query, 2000)), "\n";
    PHP;
$options = '-d ffi.enable=1 -d async.block_warning_ms=60';
$ended = T\php($code, $options);
T\check('goes on', $ended->has("1\n") && $ended->status === 0, $ended);
T\check('the report', preg_match('~Coroutine #3 \(spawned at \S+:7\) has blocked the event loop for \d{3,5} ms in slow_query\(\) \(system call futex, by libslow\.so\) in \S+ on line 5~', $ended->output), $ended);

// it is ended when it has said so
$endless = str_replace(', 2000', ', 100_000_000', $code);
$process = proc_open('exec ' . T\interpreter("$options -r") . ' ' . escapeshellarg($endless), [1 => ['pipe', 'w'], 2 => ['redirect', 1]], $pipes);
for ($output = ''; ($line = fgets($pipes[1])) !== false && !str_contains($output .= $line, 'Spindle:'); );
proc_terminate($process, SIGKILL);
$output .= stream_get_contents($pipes[1]);
T\check('standard error', preg_match_all('~^Spindle: coroutine #3 has been blocking the event loop for \d+ seconds and still does in slow_query\(\) \(system call futex, by libslow\.so\) in \S.* on line \d~m', $output) === 1, $output);
T\check('no warning before its end', !str_contains($output, 'Warning:'), $output);
?>
--EXPECT--
compiled: yes
goes on: yes
the report: yes
standard error: yes
no warning before its end: yes
