--TEST--
CANC-2 a coroutine whose calls never wait, but let others run, is cancelled all the same: as the call returns
--FILE--
<?php
use function Async\{await, spawn, suspend, timeout};

require __DIR__ . '/kit.inc';

T\work_in(['lines' => str_repeat("line\n", 5000)]);
[$near, $far] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
[$left, $right] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
fwrite($left, 'goes round');
$ways = [
    'fgets' => function() { while (true) { $file = fopen('lines', 'r'); while (fgets($file) !== false); } },
    'file_get_contents' => function() { while (true) file_get_contents('lines'); },
    'file_put_contents' => function() { while (true) file_put_contents('other', 'text'); },
    'fsync' => function() { $file = fopen('synced', 'w'); while (true) fsync($file); },
    'fread' => function() { $zeros = fopen('/dev/zero', 'r'); while (true) fread($zeros, 8192); },
    'fwrite' => function() { $nowhere = fopen('/dev/null', 'w'); while (true) fwrite($nowhere, 'text'); },
    'fwrite in memory' => function() { $memory = fopen('php://memory', 'w'); while (true) { rewind($memory); fwrite($memory, 'text'); } },
    'a loop in C' => fn() => stream_copy_to_stream($left, $right), // reads what it has written
    'a socket' => function() use ($near, $far) { while (true) { fwrite($far, "line\n"); if (fgets($near) === false) throw new Exception('no line'); } },
    'stream_select' => function() use ($left, $right) { while (true) { $read = [$left, $right]; $write = $except = null; stream_select($read, $write, $except, 0); } },
];
foreach ($ways as $name => $way) {
    $cleaned = false;
    $job = spawn(function() use ($way, &$cleaned) { try { $way(); } finally { $cleaned = true; } });
    T\begun($job);
    suspend();
    $job->cancel();
    try {
        await($job, timeout(60_000));
    } catch (Throwable $e) {
        echo $name, ': ', get_class($e), $cleaned ? '' : ', not cleaned up', "\n";
    }
}
// where it is protected, afterwards
$lines = 0;
$job = spawn(function() use (&$lines) {
    Async\protect(function() use (&$lines) { for ($i = 0; $i < 3; $i++) foreach (file('lines') as $line) $lines++; });
    while (true) file_get_contents('lines');
});
T\begun($job);
$job->cancel();
echo get_class(T\failure($job)), ' after ', $lines, " lines\n";
?>
--EXPECT--
fgets: Async\CancellationException
file_get_contents: Async\CancellationException
file_put_contents: Async\CancellationException
fsync: Async\CancellationException
fread: Async\CancellationException
fwrite: Async\CancellationException
fwrite in memory: Async\CancellationException
a loop in C: Async\CancellationException
a socket: Async\CancellationException
stream_select: Async\CancellationException
Async\CancellationException after 15000 lines
