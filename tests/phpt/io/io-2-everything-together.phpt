--TEST--
IO-2 each way to block lets the others go on: all begin before any ends
--EXTENSIONS--
curl
pcntl
posix
sockets
--FILE--
<?php
use function Async\spawn;

require __DIR__ . '/kit.inc';
T\work_in(['lock' => '']);
$gate = new T\Gate;
const WAIT = T\Gate::WAIT;
posix_mkfifo('fifo', 0600);

// another process holds a lock and serves slowly, until it is told to go on
$side = new T\Side(<<<'PHP'
    $lock = fopen('lock', 'r');
    flock($lock, LOCK_EX);
    $http = stream_socket_server('tcp://127.0.0.1:0');
    $udp = stream_socket_server('udp://127.0.0.1:0', $e, $s, STREAM_SERVER_BIND);
    $unix = stream_socket_server('unix://server.sock');
    echo stream_socket_get_name($http, false), ' ', stream_socket_get_name($udp, false), "\n";
    fgets(STDIN);
    flock($lock, LOCK_UN);
    file_put_contents('fifo', 'from the fifo');
    for ($i = 0; $i < 3; $i++) {
        $c = stream_socket_accept($http, 600);
        while (trim(fgets($c)) !== '');
        fwrite($c, "HTTP/1.0 200 OK\r\n\r\nfrom the server");
        fclose($c);
    }
    stream_socket_recvfrom($udp, 100, 0, $peer);
    stream_socket_sendto($udp, 'a datagram', 0, $peer);
    $c = stream_socket_accept($unix, 600);
    fwrite($c, "a line\n");
    fgets(STDIN);
    PHP);
[$http, $udp] = explode(' ', $side->hear());

$begun = $ended = [];
$run = function(string $name, Closure $task) use (&$begun, &$ended): Async\Coroutine {
    return spawn(function() use ($name, $task, &$begun, &$ended) {
        $begun[] = $name;
        $result = $task();
        $ended[] = $name;
        return $result;
    });
};
[$a, $b] = T\pair();
[$c, $d] = T\pair();
socket_create_pair(AF_UNIX, SOCK_STREAM, 0, $pair);
$server = socket_create_listen(0);
socket_getsockname($server, $host, $port);
$sender = stream_socket_server('udp://127.0.0.1:0', $errno, $error, STREAM_SERVER_BIND);

$jobs = [];
foreach ([
    'usleep' => fn() => usleep(1_000_000),
    'time_nanosleep' => fn() => time_nanosleep(1, 0),
    'fgets' => fn() => fgets($a),
    'stream_select' => function() use ($c) { $r = [$c]; $w = $x = null; return stream_select($r, $w, $x, 600); },
    'flock' => fn() => flock(fopen('lock', 'r'), LOCK_EX),
    'fifo' => fn() => file_get_contents('fifo'),
    'http stream' => fn() => file_get_contents("http://$http/"),
    'curl' => function() use ($http) { $c = curl_init("http://$http/"); curl_setopt($c, CURLOPT_RETURNTRANSFER, true); return curl_exec($c); },
    'curl multi' => function() use ($http) {
        $m = curl_multi_init();
        $c = curl_init("http://$http/");
        curl_setopt($c, CURLOPT_RETURNTRANSFER, true);
        curl_multi_add_handle($m, $c);
        do { curl_multi_exec($m, $running); curl_multi_select($m, 600); } while ($running);
        return curl_multi_getcontent($c);
    },
    'udp' => function() use ($udp) { $s = stream_socket_client("udp://$udp"); fwrite($s, 'hello'); return fread($s, 100); },
    'unix' => function() { $s = stream_socket_client('unix://server.sock'); return fgets($s); },
    'socket_recv' => function() use ($pair) { socket_recv($pair[0], $buffer, 4, MSG_WAITALL); return $buffer; },
    'socket_accept' => function() use ($server) { $s = socket_accept($server); return socket_read($s, 100); },
    'socket_select' => function() use ($pair) { $r = [$pair[1]]; $w = $x = null; return socket_select($r, $w, $x, 600); },
    'shell_exec' => fn() => shell_exec(WAIT . '; printf shell'),
    'exec' => fn() => exec(WAIT . '; echo exec'),
    'system' => function() { ob_start(); system(WAIT . '; echo system'); return ob_get_clean(); },
    'popen' => function() { $p = popen(WAIT . '; echo popen', 'r'); $line = fgets($p); pclose($p); return $line; },
    'pclose' => fn() => pclose(popen('exec ' . WAIT, 'r')),
    'proc_open' => function() { $p = proc_open(['sh', '-c', 'read x; ' . WAIT . '; echo "$x"; exit 3'], [['pipe', 'r'], ['pipe', 'w']], $pipes); fwrite($pipes[0], "through cat\n"); return fgets($pipes[1]) . proc_close($p); },
    'pcntl_waitpid' => function() { $pid = pcntl_fork(); if ($pid === 0) pcntl_exec('/bin/sh', ['-c', WAIT]); pcntl_waitpid($pid, $status); return pcntl_wexitstatus($status); },
    'stream_socket_recvfrom' => fn() => stream_socket_recvfrom($sender, 100),
    'stdin-like pipe' => function() use ($side) { return strlen(stream_get_contents(popen(WAIT . '; printf 12345', 'r'))); },
] as $name => $task) {
    $jobs[$name] = $run($name, $task);
}
$all = count($jobs);
T\check('all have begun', T\until(function() use (&$begun, $all) { return count($begun) === $all; }));
T\parked(...array_values($jobs));
T\check('none has ended', array_diff($ended, ['usleep', 'time_nanosleep']) === [], $ended);
$gate->open();
$side->say('go on');
fwrite($b, "a line of the pair\n");
fwrite($d, 'x');
socket_write($pair[1], 'four');
socket_write($pair[0], 'x');
$client = stream_socket_client("tcp://127.0.0.1:$port");
fwrite($client, 'accepted');
stream_socket_sendto($sender, 'to myself', 0, stream_socket_get_name($sender, false));
foreach (T\all($jobs) as $name => $result) echo "$name: ", json_encode($result), "\n";
?>
--EXPECT--
all have begun: yes
none has ended: yes
usleep: null
time_nanosleep: true
fgets: "a line of the pair\n"
stream_select: 1
flock: true
fifo: "from the fifo"
http stream: "from the server"
curl: "from the server"
curl multi: "from the server"
udp: "a datagram"
unix: "a line\n"
socket_recv: "four"
socket_accept: "accepted"
socket_select: 1
shell_exec: "shell"
exec: "exec"
system: "system\n"
popen: "popen\n"
pclose: 0
proc_open: "through cat\n3"
pcntl_waitpid: 0
stream_socket_recvfrom: "to myself"
stdin-like pipe: 5
