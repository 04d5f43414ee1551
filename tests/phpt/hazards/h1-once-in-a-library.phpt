--TEST--
H1 a library initialises itself once, and the routine waits: other coroutines wait for it, as other threads would
--EXTENSIONS--
ffi
--SKIPIF--
<?php
if (!shell_exec('command -v c++')) die('skip there is no C++ compiler');
?>
--INI--
ffi.enable=1
--FILE--
<?php
use function Async\{await, spawn};

require __DIR__ . '/kit.inc';
T\work_in(['lib.cc' => <<<'C'
    #include <mutex>
    #include <pthread.h>
    #include <threads.h>
    #include <unistd.h>

    static pthread_once_t posix = PTHREAD_ONCE_INIT;
    static once_flag c11 = ONCE_FLAG_INIT;
    static std::once_flag cpp;
    static int ends[2], runs;

    static void routine()
    {
        char byte;
        read(ends[0], &byte, 1);
        runs++;
    }

    static void fails_first()
    {
        routine();
        if (runs == 1) throw runs;
    }

    extern "C" {
        int start() { return pipe(ends); }
        void go() { write(ends[1], "x", 1); }
        int seen() { int seen = runs; runs = 0; return seen; }

        int by_posix() { pthread_once(&posix, routine); return runs; }
        int by_c11() { call_once(&c11, routine); return runs; }
        int by_cpp()
        {
            try {
                std::call_once(cpp, fails_first);
            } catch (int) {
                return -1;
            }
            return runs;
        }
    }
    C]);
passthru('c++ -shared -fPIC -O1 -pthread -w -o lib.so lib.cc 2>&1');
$lib = FFI::cdef('int start(void); void go(void); int seen(void); int by_posix(void); int by_c11(void); int by_cpp(void);', getcwd() . '/lib.so');
await(spawn(fn() => $lib->start()));

foreach (['by_posix', 'by_c11'] as $once) {
    $jobs = [];
    for ($i = 0; $i < 3; $i++) T\parked($jobs[] = spawn(fn() => $lib->$once()));
    echo implode(' ', array_map(fn($job) => $job->getAwaitingInfo()['call'], $jobs)), "\n";
    $lib->go();
    T\check("$once: all return when it has run", T\all($jobs) === [1, 1, 1]);
    T\check('and later ones at once', $lib->$once() === 1 && $lib->seen() === 1);
}

$jobs = [];
for ($i = 0; $i < 3; $i++) T\parked($jobs[] = spawn(fn() => $lib->by_cpp()));
$lib->go();
echo await($jobs[0], Async\timeout(60_000)), "\n";
T\until(fn() => $jobs[1]->getAwaitingInfo()['call'] === 'read');
T\check('the next one tries after an exception, the others wait on', $jobs[2]->getAwaitingInfo()['call'] === 'pthread_once');
$lib->go();
echo await($jobs[1], Async\timeout(60_000)), ' ', await($jobs[2], Async\timeout(60_000)), "\n";
?>
--EXPECT--
read pthread_once pthread_once
by_posix: all return when it has run: yes
and later ones at once: yes
read pthread_once pthread_once
by_c11: all return when it has run: yes
and later ones at once: yes
-1
the next one tries after an exception, the others wait on: yes
2 2
