--TEST--
H9 a listener and pipes shared with other processes: nobody's O_NONBLOCK changes, and a connection taken by another process blocks nobody
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
use function Async\{await, delay, spawn};

require __DIR__ . '/kit.inc';
T\work_in();
$gate = new T\Gate;

function nonblocking($fd): bool
{
    preg_match('/flags:\s+0*(\d+)/', file_get_contents("/proc/self/fdinfo/$fd"), $m);
    return (octdec($m[1]) & 04000) !== 0;
}
function number($stream): int
{
    $inode = fstat($stream)['ino'];
    foreach (glob('/proc/self/fd/*') as $fd) if (str_contains((string) @readlink($fd), "[$inode]")) return (int) basename($fd);
    return -1;
}

[$server, $address] = T\listener();
$workers = [];
$total = 24;
for ($i = 0; $i < 2; $i++) {
    // workers of the kind that prefork: each accepts in several coroutines on the shared listener
    $pid = pcntl_fork();
    if ($pid === 0) {
        $count = 0;
        for ($k = 0; $k < 3; $k++) spawn(function() use ($server, &$count) { while ($c = @stream_socket_accept($server, 600)) { $count++; fwrite($c, "hello\n"); fclose($c); } });
        $ticks = new T\Ticks;
        $ticks->more(20); // a connection that another process took leaves the accept waiting for the next one
        await(spawn(T\Gate::wait(...)));
        exit($count);
    }
    $workers[] = $pid;
}
$clients = [];
for ($i = 0; $i < $total; $i++) $clients[] = spawn(function() use ($address, $i) { delay($i * 5); return fgets(stream_socket_client($address, $errno, $error, 600)); });
echo implode('', array_unique(T\all($clients)));
$gate->open();
var_dump(nonblocking(number($server)));
$counts = [];
foreach ($workers as $pid) {
    pcntl_waitpid($pid, $status);
    $counts[] = pcntl_wexitstatus($status);
}
T\check('each connection once, others ran meanwhile', array_sum($counts) === $total, $counts);

// a pipe end that was passed to a child keeps blocking, for both
$p = proc_open(['sh', '-c', 'sleep 0.05; cat; sleep 0.05'], [['pipe', 'r'], ['pipe', 'w']], $pipes);
$jobs = [spawn(fn() => fwrite($pipes[0], str_repeat('x', 200_000)) . fclose($pipes[0])), spawn(fn() => strlen(stream_get_contents($pipes[1])))];
T\parked(...$jobs);
var_dump(nonblocking(number($pipes[1])));
echo T\all($jobs)[1], "\n";
?>
--EXPECT--
hello
bool(false)
each connection once, others ran meanwhile: yes
bool(false)
200000
