--TEST--
H12 a child that no fork handler saw has a reactor of its own, and runs nobody else's coroutines
--EXTENSIONS--
ffi
pcntl
--INI--
ffi.enable=1
--SKIPIF--
<?php
// An emulator may accept the advice by which such a child is recognised, and not follow it.
$libc = FFI::cdef('uint8_t *mmap(void *, size_t, int, int, int, long); int madvise(void *, size_t, int);');
$page = $libc->mmap(null, 4096, 3, 0x22, -1, 0);
$libc->madvise($page, 4096, 18);
$page[0] = 7;
if (($pid = pcntl_fork()) === 0) exit($page[0]);
pcntl_waitpid($pid, $status);
if (pcntl_wexitstatus($status) === 7) die('skip this kernel does not follow MADV_WIPEONFORK');
?>
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
