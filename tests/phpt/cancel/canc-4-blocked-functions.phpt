--TEST--
CANC-4 every kind of blocked function ends when its coroutine is cancelled, the very cancellation is thrown, nothing is left open
--EXTENSIONS--
curl
pcntl
posix
sockets
--FILE--
<?php
use function Async\{delay, spawn};

require __DIR__ . '/kit.inc';
T\work_in(['lock' => '']);
posix_mkfifo('fifo', 0600);
set_error_handler(fn() => true); // a function's documented warnings may appear

$holder = fopen('lock', 'r');
flock($holder, LOCK_EX);
[$silent, $address] = T\listener();  // accepts in the backlog, never answers
$port = (int) substr(strrchr($address, ':'), 1);
$socket = function() use ($port) {
    $s = socket_create(AF_INET, SOCK_STREAM, SOL_TCP);
    socket_connect($s, '127.0.0.1', $port);
    return $s;
};

$functions = [
    'sleep' => fn() => sleep(600),
    'usleep' => fn() => usleep(600_000_000),
    'time_nanosleep' => fn() => time_nanosleep(600, 5),
    'time_sleep_until' => fn() => time_sleep_until(microtime(true) + 600),
    'fgets' => function() { [$a, $b] = T\pair(); fgets($a); },
    'fread' => function() use ($address) { fread(stream_socket_client($address), 10); },
    'fgetc of a pipe' => function() { $p = proc_open(['cat'], [['pipe', 'r'], ['pipe', 'w']], $pipes); fgetc($pipes[1]); },
    'fwrite' => function() { [$a, $b] = T\pair(); fwrite($a, str_repeat('x', 10_000_000)); },
    'stream_get_contents' => function() { [$a, $b] = T\pair(); stream_get_contents($a); },
    'stream_copy_to_stream' => function() { [$a, $b] = T\pair(); stream_copy_to_stream($a, fopen('php://memory', 'w')); },
    'stream_select' => function() { [$a, $b] = T\pair(); $r = [$a]; $w = $x = null; stream_select($r, $w, $x, 600); },
    'stream_select, for ever' => function() { [$a, $b] = T\pair(); $r = [$a]; $w = $x = null; stream_select($r, $w, $x, null); },
    'stream_socket_accept' => function() { [$server] = T\listener(); stream_socket_accept($server, 600); },
    'stream_socket_recvfrom' => function() { [$server] = T\listener('udp'); stream_socket_recvfrom($server, 10); },
    'file_get_contents of http' => fn() => file_get_contents("http://127.0.0.1:$port/"),
    'flock' => fn() => flock(fopen('lock', 'r'), LOCK_SH),
    'fopen of a fifo' => fn() => fopen('fifo', 'r'),
    'file_get_contents of a fifo' => fn() => file_get_contents('fifo'),
    'socket_accept' => function() { $s = socket_create_listen(0); socket_accept($s); },
    'socket_read' => fn() => socket_read($socket(), 10),
    'socket_recv' => function() use ($socket) { socket_recv($socket(), $buffer, 10, MSG_WAITALL); },
    'socket_select' => function() use ($socket) { $r = [$socket()]; $w = $x = null; socket_select($r, $w, $x, 600); },
    'curl_exec' => fn() => curl_exec(curl_init("http://127.0.0.1:$port/")),
    'curl_multi_select' => function() use ($port) {
        $m = curl_multi_init();
        curl_multi_add_handle($m, curl_init("http://127.0.0.1:$port/"));
        for ($i = 0; $i < 5; $i++) { curl_multi_exec($m, $running); curl_multi_select($m, 600); }
    },
    'shell_exec' => fn() => shell_exec('exec flock -s gate true'),
    'exec' => fn() => exec('exec flock -s gate true'),
    'pclose' => fn() => pclose(popen('exec flock -s gate true', 'r')),
    'proc_close' => fn() => proc_close(proc_open(['flock', '-s', 'gate', 'true'], [], $pipes)),
    'pcntl_waitpid' => function() { $pid = pcntl_fork(); if ($pid === 0) { pcntl_exec('/bin/sleep', ['600']); } try { pcntl_waitpid($pid, $status); } finally { posix_kill($pid, SIGKILL); pcntl_waitpid($pid, $status); } },
    'await' => fn() => Async\await(spawn(fn() => delay(600_000))),
];
$round = function() use ($functions): array {
    $said = [];
    foreach ($functions as $name => $function) {
        $after = false;
        $gate = new T\Gate;
        $c = spawn(function() use ($function, &$after) { $function(); $after = true; });
        T\parked($c);
        $start = hrtime(true);
        $reason = new Async\CancellationException($name);
        $c->cancel($reason);
        $gate->open();
        $e = T\failure($c);
        $said[$name] = match (true) {
            $after => 'not thrown on return',
            $e !== $reason => $e ? get_class($e) . ' ' . $e->getMessage() : 'not cancelled',
            T\ms($start) > 60_000 => 'late',
            default => 'cancelled',
        };
        unset($c, $e);
    }
    return $said;
};
foreach ($round() as $name => $said) echo "$name: $said\n";
gc_collect_cycles();
$before = T\descriptors();
$round();
gc_collect_cycles();
T\check('descriptors', T\until(fn() => array_count_values(T\descriptors()) == array_count_values($before) || count(T\descriptors()) <= count($before)), array_diff_key(T\descriptors(), $before));
T\check('children', T\until(fn() => T\children() === []), T\children());
exit; // what was awaited would go on
?>
--EXPECT--
sleep: cancelled
usleep: cancelled
time_nanosleep: cancelled
time_sleep_until: cancelled
fgets: cancelled
fread: cancelled
fgetc of a pipe: cancelled
fwrite: cancelled
stream_get_contents: cancelled
stream_copy_to_stream: cancelled
stream_select: cancelled
stream_select, for ever: cancelled
stream_socket_accept: cancelled
stream_socket_recvfrom: cancelled
file_get_contents of http: cancelled
flock: cancelled
fopen of a fifo: cancelled
file_get_contents of a fifo: cancelled
socket_accept: cancelled
socket_read: cancelled
socket_recv: cancelled
socket_select: cancelled
curl_exec: cancelled
curl_multi_select: cancelled
shell_exec: cancelled
exec: cancelled
pclose: cancelled
proc_close: cancelled
pcntl_waitpid: cancelled
await: cancelled
descriptors: yes
children: yes
