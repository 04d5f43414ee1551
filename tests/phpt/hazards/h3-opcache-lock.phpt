--TEST--
H3 opcache's lock is the process's: while another process has it, no other coroutine runs, and nobody's wait for it is cancelled
--EXTENSIONS--
ffi
pcntl
posix
--SKIPIF--
<?php if (!function_exists('opcache_reset')) die('skip opcache is not loaded'); ?>
--INI--
opcache.enable=1
opcache.enable_cli=1
opcache.file_update_protection=0
opcache.jit=1235
opcache.jit_buffer_size=16M
opcache.jit_hot_func=20
opcache.jit_hot_loop=0
ffi.enable=1
--FILE--
<?php
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';
T\work_in(['a.php' => '<?php return 1;', 'b.php' => '<?php return 2;']);

$locks = array_filter(glob('/proc/self/fd/*'), fn($fd) => preg_match('~memfd:opcache_lock|/\.ZendSem\.~', @readlink($fd) ?: ''));
T\check('there is a lock', count($locks) === 1, $locks);
$fd = (int) basename(reset($locks));
$c = FFI::cdef('struct flock { short type, whence; long start, len; int pid; }; int fcntl(int, int, ...);');
$lock = $c->new('struct flock');
[$lock->type, $lock->whence, $lock->start, $lock->len] = [1, SEEK_SET, 0, 1]; // F_WRLCK
await(spawn(fn() => [require 'a.php', require 'b.php']));
T\check('it has both files', opcache_is_script_cached(realpath('a.php')) && opcache_is_script_cached(realpath('b.php')));

/** What runs $calls while another process has the lock, and lets go of it when it is waited for: whether it was, and how often others ran. */
$contended = function (callable $call) use ($c, $fd, $lock) {
    $waiter = getmypid();
    [$here, $there] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    $child = pcntl_fork();
    if ($child === 0) {
        $c->fcntl($fd, 7, FFI::addr($lock)); // F_SETLKW
        fwrite($there, 'locked');
        // No function and no loop gets hot here: the JIT would take the lock in this process, and let go of it.
        while (!preg_match("~^\\d+: -> POSIX .* $waiter ~m", file_get_contents('/proc/locks')) && posix_getppid() === $waiter) usleep(1000);
        fwrite($there, 'waited'); // or this process is killed before
        posix_kill(getmypid(), SIGKILL); // its locks go with it
    }
    fread($here, 6);
    $ran = 0;
    $has_begun = false;
    $job = spawn(function () use ($call, &$has_begun) { $has_begun = true; return $call(); });
    $other = spawn(function () use ($job, &$ran, &$has_begun) {
        for (; !$job->isCompleted(); suspend()) {
            if ($has_begun) { $ran++; $job->cancel(); }
        }
    });
    $result = await($job);
    await($other);
    posix_kill($child, SIGKILL);
    pcntl_waitpid($child, $status);
    fclose($there);
    $waited = stream_get_contents($here) === 'waited';
    return [$result, $waited ? 'waited' : 'did not wait', $ran];
};
echo json_encode($contended(fn() => opcache_invalidate(realpath('a.php'), true))), "\n";
echo json_encode($contended(fn() => array_map(fn($file) => opcache_invalidate(realpath($file), true), ['b.php']))), "\n";
// the JIT takes it when a function is called often
file_put_contents('hot.php', '<?php function hotter(int $n): int { for ($i = 0, $sum = 0; $i < $n; $i++) $sum += $i; return $sum; }');
require 'hot.php';
echo json_encode($contended(function () { for ($i = 0, $sum = 0; $i < 3000; $i++) $sum += hotter(10); return $sum; })), "\n";
?>
--EXPECT--
there is a lock: yes
it has both files: yes
[true,"waited",0]
[[true],"waited",0]
[135000,"waited",0]
