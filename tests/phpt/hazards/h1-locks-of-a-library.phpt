--TEST--
H1 a library that waits with a lock held keeps other coroutines out of it, as it would other threads
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
T\work_in(['lib.c' => <<<'C'
    #define _GNU_SOURCE
    #include <pthread.h>
    #include <unistd.h>

    /* To libc all coroutines are one thread: it lets each of them in. */
    static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    static int ends[2], inside;

    int start(void) { return pipe(ends); }
    void go(void) { write(ends[1], "x", 1); }

    int hold(void)
    {
        char byte;
        pthread_mutex_lock(&mutex);
        int seen = ++inside;
        read(ends[0], &byte, 1);
        pthread_mutex_lock(&mutex); /* once more, which is its own */
        inside--;
        pthread_mutex_unlock(&mutex);
        pthread_mutex_unlock(&mutex);
        return seen;
    }

    int try(void)
    {
        int error = pthread_mutex_trylock(&mutex);
        if (!error) pthread_mutex_unlock(&mutex);
        return error;
    }

    void leave_locked(void) { pthread_mutex_lock(&mutex); }
    C]);
passthru('cc -shared -fPIC -O1 -pthread -w -o lib.so lib.c 2>&1');
$lib = FFI::cdef('int start(void); void go(void); int hold(void); int try(void); void leave_locked(void);', getcwd() . '/lib.so');
await(spawn(fn() => $lib->start()));

$jobs = [];
for ($i = 0; $i < 3; $i++) T\parked($jobs[] = spawn(fn() => $lib->hold()));
echo implode(' ', array_map(fn($job) => $job->getAwaitingInfo()['call'], $jobs)), "\n";
T\check('nor can it be taken by trying', await(spawn(fn() => $lib->try())) === 16);
for ($i = 0; $i < 3; $i++) {
    $lib->go();
    echo await($jobs[$i], Async\timeout(60_000)), "\n";
}
T\check('now it can', await(spawn(fn() => $lib->try())) === 0);

// first come, first served: who has let go of it and comes again is behind those who wait
$order = [];
$one = spawn(function() use ($lib, &$order) { for ($i = 0; $i < 2; $i++) { $lib->hold(); $order[] = 'one'; } });
T\parked($one);
$two = spawn(function() use ($lib, &$order) { $lib->hold(); $order[] = 'two'; });
T\parked($two);
for ($i = 0; $i < 3; $i++) $lib->go();
T\all([$one, $two]);
echo implode(' ', $order), "\n";

// of one that has ended with the lock held, it is nobody's
await(spawn(fn() => $lib->leave_locked()));
$next = spawn(fn() => $lib->hold());
T\parked($next);
$lib->go();
echo await($next, Async\timeout(60_000)), "\n";
?>
--EXPECT--
read pthread_mutex_lock pthread_mutex_lock
nor can it be taken by trying: yes
1
1
1
now it can: yes
one two one
1
