--TEST--
CORO-11 a C stack that overflows inside a library: it goes on and is reported where PHP code runs, or the process ends at once; nothing is jumped out of
--EXTENSIONS--
ffi
dom
--SKIPIF--
<?php
if (!shell_exec('command -v cc')) die('skip there is no C compiler');
?>
--FILE--
<?php
require __DIR__ . '/kit.inc';

T\work_in(['lib.c' => <<<'C'
    #include <pthread.h>
    #include <stddef.h>

    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

    /* Takes stack, a lock held, in frames of a page each. */
    __attribute__((noinline)) static int descend(long kilobytes)
    {
        volatile char frame[4000];
        frame[0] = (char) kilobytes;
        return kilobytes > 4 ? descend(kilobytes - 4) + frame[0] * 0 : 1;
    }

    int deep(long kilobytes)
    {
        pthread_mutex_lock(&mutex);
        int result = descend(kilobytes);
        pthread_mutex_unlock(&mutex);
        return result;
    }

    /* One frame for all of it. */
    int wide(long kilobytes)
    {
        volatile char frame[kilobytes * 1024];
        frame[0] = 1;
        return frame[0];
    }

    /* One frame for all of it, and PHP code below it. */
    int above(long kilobytes, int (*callback)(void))
    {
        volatile char frame[kilobytes * 1024];
        frame[0] = 1;
        return callback() + frame[0] - 1;
    }

    /* Small frames, and a wide one below them. */
    int both(long deep, long kilobytes)
    {
        volatile char frame[4000];
        frame[0] = (char) deep;
        return deep > 4 ? both(deep - 4, kilobytes) + frame[0] * 0 : wide(kilobytes);
    }

    int is_free(void)
    {
        return pthread_mutex_trylock(&mutex) == 0;
    }
    C]);
T\command('cc -O1 -fno-stack-clash-protection -shared -fPIC -o lib.so lib.c');
$code = <<<'PHP'
    $lib = FFI::cdef('int deep(long); int wide(long); int above(long, int (*)(void)); int both(long, long); int is_free(void);', './lib.so');
    register_shutdown_function(function() use ($lib) { echo 'shutdown, the lock is ', $lib->is_free() ? 'free' : 'held', "\n"; });
    function nested(int $n, Closure $then): mixed { return $n ? array_map('nested', [$n - 1], [$then])[0] : $then(); }
    echo Async\await(Async\spawn(fn() => TASK)), "\n";
    echo Async\await(Async\spawn(fn() => 'and the next')), "\n";
    PHP;
$run = fn(string $task) => T\php(str_replace('TASK', $task, $code), '-d ffi.enable=1 -d async.stack_size=256K -d display_errors=stderr -d html_errors=0 -d log_errors=0');
$say = fn(string $ended) => preg_replace(['~ in \S+~', '~on line \d+~'], [' in FILE', 'on line N'], $ended);

echo 'fits: ', $say($run('$lib->deep(200)'));
echo 'and a little more: ', $say($run('$lib->deep(300)'));
echo 'beyond: ', $say($run('$lib->deep(400)'));
echo 'one large frame: ', $say($run('$lib->wide(500)'));
echo 'one that fits: ', $say($run('$lib->above(200, fn() => 1)'));
$ended = $run('$lib->above(310, fn() => 1)');
// Since 8.3 PHP itself refuses the call, which makes FFI end the request.
$is_refused = PHP_VERSION_ID >= 80300 && $ended->has('FFI callbacks');
T\check('one that does not, and PHP code below it', $ended->status === 255 && ($is_refused || $ended->has('Maximum C stack size')), $ended);
echo 'beyond what is left after an overflow: ', $say($run('$lib->both(290, 410)'));
echo 'PHP code comes after it: ', preg_replace('~Uncaught Error: Maximum call stack size of \d+ bytes .*?reached\. Infinite recursion\? in (\S+)\s+Stack trace:\n(?:#[^\n]*+\n)*+  thrown~', 'Maximum C stack size of a coroutine (262144 bytes) reached. Infinite recursion? (async.stack_size)', $say($run('[$lib->deep(300), nested(1000, fn() => 0)]')));

// malloc overflows wherever the recursion has come to
$code = <<<'PHP'
    $depth = 6000;
    $tag = str_repeat('a', 40);
    $document = new DOMDocument;
    for ($node = $document, $i = 0; $i < $depth; $i++) $node = $node->appendChild($document->createElement($tag));
    Async\await(Async\spawn(function() { $file = tmpfile(); fwrite($file, 'x'); fsync($file); })); // a worker thread: malloc locks
    Async\await(Async\spawn(function() use ($document) {
        $nested = function($n) use (&$nested, $document) { return $n ? array_map($nested, [$n - 1]) : clone $document; };
        $nested(PADDING);
    }));
    PHP;
foreach (range(0, 100, 20) as $padding) {
    $ended = T\php(str_replace('PADDING', (string) $padding, $code), '-d async.stack_size=256K');
    T\check("malloc, $padding", $ended->status === 255 && $ended->has('Maximum C stack size') || LIBXML_VERSION >= 21500 && $ended->status === 0, $ended); // which goes no deeper
}
?>
--EXPECT--
fits: [0] 1
and the next
shutdown, the lock is free
and a little more: [0] 1
and the next
shutdown, the lock is free
beyond: [255] PHP Fatal error:  Maximum C stack size of a coroutine (262144 bytes) reached. Infinite recursion? (async.stack_size) in FILE on line N. The process ends without its shutdown functions, because this was inside a library
one large frame: [255] PHP Fatal error:  Maximum C stack size of a coroutine (262144 bytes) reached. Infinite recursion? (async.stack_size) in FILE on line N. The process ends without its shutdown functions, because this was inside a library
one that fits: [0] 1
and the next
shutdown, the lock is free
one that does not, and PHP code below it: yes
beyond what is left after an overflow: [255] PHP Fatal error:  Maximum C stack size of a coroutine (262144 bytes) reached. Infinite recursion? (async.stack_size) in FILE on line N. The process ends without its shutdown functions, because this was inside a library
PHP code comes after it: [255] Fatal error: Maximum C stack size of a coroutine (262144 bytes) reached. Infinite recursion? (async.stack_size) in FILE on line N
shutdown, the lock is free
malloc, 0: yes
malloc, 20: yes
malloc, 40: yes
malloc, 60: yes
malloc, 80: yes
malloc, 100: yes
