--TEST--
H15 a library that looks for data often, without waiting, finds its own error, although others fail meanwhile
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
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';
T\work_in(['lib.c' => <<<'C'
    #include <errno.h>
    #include <sys/socket.h>

    static int pair[2];

    /* How often the error was another one. */
    int looks(int times)
    {
        char byte;
        int wrong = 0;
        if (!pair[0] && socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) return -1;
        while (times--)
            wrong += recv(pair[0], &byte, 1, MSG_DONTWAIT) != -1 || errno != EAGAIN;
        return wrong;
    }
    C]);
echo shell_exec('cc -shared -fPIC -o lib.so lib.c 2>&1');
$lib = FFI::cdef('int looks(int);', getcwd() . '/lib.so');

$stop = false;
$failures = 0;
$fails = spawn(function() use (&$stop, &$failures) {
    for (; !$stop; suspend()) $failures += (int) !@fopen('missing', 'r');
});
$looks = spawn(fn() => $lib->looks(1000));
echo await($looks), "\n";
$stop = true;
await($fails);
T\check('others have failed meanwhile', $failures > 10, $failures);
?>
--EXPECT--
0
others have failed meanwhile: yes
