--TEST--
H9 a listener that another process may have too is never out of blocking mode, not for a moment
--SKIPIF--
<?php
exec('strace -o /dev/null true 2>&1', $output, $status);
if ($status !== 0) die('skip no strace, or no leave to trace: ' . implode(' ', $output));
?>
--FILE--
<?php
require __DIR__ . '/kit.inc';
T\work_in(['server.php' => <<<'PHP'
    <?php
    use function Async\{await, spawn};

    $server = stream_socket_server('tcp://127.0.0.1:0');
    $inode = fstat($server)['ino'];
    foreach (glob('/proc/self/fd/*') as $fd) if (@readlink($fd) === "socket:[$inode]") echo basename($fd), "\n";
    // Coroutines are there already: a worker that is forked before the first one is another matter.
    await(spawn(fn() => 1));
    $other = $argv[1] === 'shared' ? proc_open(['cat'], [['pipe', 'r'], ['pipe', 'w']], $pipes) : null;
    $accepts = spawn(function() use ($server) {
        for ($i = 0; $i < 3; $i++) fclose(stream_socket_accept($server, 600));
    });
    $connects = spawn(function() use ($server) {
        for ($i = 0; $i < 3; $i++) fclose(stream_socket_client(stream_socket_get_name($server, false), $code, $message, 600));
    });
    await($accepts);
    await($connects);
    PHP]);
foreach (['alone', 'shared'] as $how) {
    $number = (int) T\command("strace -qq -e trace=fcntl,ioctl -o log-$how " . T\interpreter() . " server.php $how")->output;
    $changes = preg_grep("/^fcntl\\($number, F_SETFL|^ioctl\\($number, FIONBIO/", file("log-$how"));
    T\check("$how: " . ($changes ? 'changed' : 'never'), $number > 2, $number);
}
?>
--EXPECT--
alone: changed: yes
shared: never: yes
