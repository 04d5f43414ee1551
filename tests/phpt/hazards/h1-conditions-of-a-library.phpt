--TEST--
H1 a library waits on a condition for its own thread, or for another coroutine: the rest runs meanwhile
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
    #include <pthread.h>
    #include <semaphore.h>
    #include <unistd.h>

    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    static int count;
    static sem_t semaphore;

    void put(void)
    {
        pthread_mutex_lock(&mutex);
        count++;
        pthread_cond_signal(&condition);
        pthread_mutex_unlock(&mutex);
    }

    int take(void)
    {
        pthread_mutex_lock(&mutex);
        while (!count) pthread_cond_wait(&condition, &mutex);
        int taken = count--;
        pthread_mutex_unlock(&mutex);
        return taken;
    }

    static volatile int gone_on;

    void go_on(void)
    {
        gone_on = 1;
    }

    static void *sleeper(void *unused)
    {
        while (!gone_on) usleep(1000);
        gone_on = 0;
        return unused;
    }

    static void *work(void *unused)
    {
        sleeper(unused);
        put();
        sem_post(&semaphore);
        return unused;
    }

    int with_a_thread(void)
    {
        pthread_t thread;
        sem_init(&semaphore, 0, 0);
        pthread_create(&thread, 0, work, 0);
        int taken = take();
        sem_wait(&semaphore);
        pthread_join(thread, 0);
        return taken;
    }

    void join(void)
    {
        pthread_t thread;
        pthread_create(&thread, 0, sleeper, 0);
        pthread_join(thread, 0);
    }
    C]);
passthru('cc -shared -fPIC -O1 -pthread -o lib.so lib.c 2>&1');

// FFI calls what dlsym answers; what the library itself calls goes through its own entries
$ticks = new T\Ticks;
$lib = FFI::cdef('void put(void); int take(void); int with_a_thread(void); void join(void); void go_on(void);', getcwd() . '/lib.so');
$takes = spawn(fn() => $lib->with_a_thread());
T\until(fn() => $takes->isSuspended());
T\check('the rest runs', $ticks->more() && !$takes->isCompleted());
$lib->go_on();
echo await($takes), "\n";

$joins = spawn(fn() => $lib->join());
T\until(fn() => $joins->isSuspended());
T\check('while it joins too', $ticks->more() && !$joins->isCompleted());
$lib->go_on();
await($joins);

$waiters = [];
for ($i = 0; $i < 3; $i++) T\parked($waiters[] = spawn(fn() => $lib->take())); // in this order
for ($i = 0; $i < 3; $i++) {
    $lib->put();
    await($waiters[$i]);
    echo "$i\n";
}
T\check('each has taken one', T\all($waiters) === [1, 1, 1]);
$ticks->stop();
?>
--EXPECT--
the rest runs: yes
1
while it joins too: yes
0
1
2
each has taken one: yes
