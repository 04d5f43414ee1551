--TEST--
H12 a child that no fork handler saw has a reactor of its own, and runs nobody else's coroutines
--EXTENSIONS--
ffi
pcntl
--INI--
ffi.enable=1
--FILE--
<?php
use function Async\{await, getCoroutines, spawn};

require __DIR__ . '/kit.inc';

T\work_in(['log' => '']);
$say = fn(string $text) => file_put_contents('log', "$text\n", FILE_APPEND);
$libc = FFI::cdef('int _Fork(void);');
$other = spawn(function() use ($say) { T\turns(150); $say('parent: the other one'); });
T\turns(10);
$pid = $libc->_Fork();
if ($pid === 0) {
    T\turns(20);
    $say('child: coroutines ' . count(getCoroutines()));
    $say('child: ' . await(spawn(function() { usleep(20_000); return 'its own'; })));
    T\turns(300);
    exit(7);
}
await($other);
pcntl_waitpid($pid, $status);
$say('parent: ' . pcntl_wexitstatus($status));
$lines = explode("\n", trim(file_get_contents('log')));
sort($lines);
echo implode("\n", $lines), "\n";
?>
--EXPECT--
child: coroutines 1
child: its own
parent: 7
parent: the other one
