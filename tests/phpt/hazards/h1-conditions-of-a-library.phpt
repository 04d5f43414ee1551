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

    static void *work(void *unused)
    {
        usleep(50000);
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

    static void *sleeper(void *unused)
    {
        usleep(50000);
        return unused;
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
$lib = FFI::cdef('void put(void); int take(void); int with_a_thread(void); void join(void);', getcwd() . '/lib.so');
$before = $ticks->count;
echo await(spawn(fn() => $lib->with_a_thread())), "\n";
T\check('the rest runs', $ticks->count > $before + 5, $ticks->count - $before);

$before = $ticks->count;
await(spawn(fn() => $lib->join()));
T\check('while it joins too', $ticks->count > $before + 5, $ticks->count - $before);

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
1
the rest runs: yes
while it joins too: yes
0
1
2
each has taken one: yes
