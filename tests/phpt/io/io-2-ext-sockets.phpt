--TEST--
IO-2 ext/sockets: accept, connect, read, write, MSG flags, timeouts and errors of each socket for itself
--EXTENSIONS--
sockets
--FILE--
<?php
use function Async\{delay, spawn};

require __DIR__ . '/kit.inc';

$server = socket_create_listen(0);
socket_getsockname($server, $host, $port);
$serving = spawn(function() use ($server) {
    while ($client = @socket_accept($server)) {
        spawn(function() use ($client) {
            while (($line = @socket_read($client, 1000, PHP_NORMAL_READ)) !== false && $line !== '') {
                delay(2);
                socket_write($client, strtoupper($line));
            }
            socket_close($client);
        });
    }
});
$connect = function() use ($port) {
    $s = socket_create(AF_INET, SOCK_STREAM, SOL_TCP);
    socket_connect($s, '127.0.0.1', $port);
    return $s;
};
$jobs = [
    'lines' => spawn(function() use ($connect) { $s = $connect(); socket_write($s, "one\n"); $a = socket_read($s, 100); socket_write($s, "two\n"); return [$a, socket_read($s, 100)]; }),
    'waitall' => spawn(function() use ($connect) { $s = $connect(); socket_write($s, "abc\n"); spawn(function() use ($s) { T\turns(20); socket_write($s, "def\n"); }); return [socket_recv($s, $all, 8, MSG_WAITALL), $all]; }),
    'peek' => spawn(function() use ($connect) { $s = $connect(); socket_write($s, "xyz\n"); socket_recv($s, $peeked, 2, MSG_PEEK); socket_recv($s, $read, 4, 0); return [$peeked, $read]; }),
    'dontwait' => spawn(function() use ($connect) { $s = $connect(); return [@socket_recv($s, $b, 10, MSG_DONTWAIT), socket_last_error($s) === SOCKET_EAGAIN]; }),
    'nonblock' => spawn(function() use ($connect) { $s = $connect(); socket_set_nonblock($s); $r = [@socket_read($s, 10), socket_last_error($s) === SOCKET_EAGAIN]; socket_set_block($s); socket_write($s, "x\n"); return [...$r, socket_read($s, 10)]; }),
    'timeout' => spawn(function() use ($connect) { $s = $connect(); socket_set_option($s, SOL_SOCKET, SO_RCVTIMEO, ['sec' => 0, 'usec' => 40_000]); $t = hrtime(true); return [@socket_read($s, 10), socket_last_error($s) === SOCKET_EAGAIN, T\ms($t) >= 39]; }),
    'refused' => spawn(function() { $l = socket_create_listen(0); socket_getsockname($l, $h, $p); socket_close($l); $s = socket_create(AF_INET, SOCK_STREAM, SOL_TCP); return [@socket_connect($s, '127.0.0.1', $p), socket_last_error($s) === SOCKET_ECONNREFUSED]; }),
    'select' => spawn(function() use ($connect) {
        $one = $connect(); $two = $connect(); socket_write($two, "hello\n");
        $r = ['one' => $one, 'two' => $two]; $w = ['one' => $one]; $x = null;
        $n = socket_select($r, $w, $x, 600);
        $r2 = ['two' => $two]; $w2 = $x2 = null;
        return [$n >= 1, array_keys($w), socket_select($r2, $w2, $x2, 600), array_keys($r2)];
    }),
    'sendto a full buffer' => spawn(function() {
        socket_create_pair(AF_UNIX, SOCK_STREAM, 0, $pair);
        $reading = spawn(function() use ($pair) { $n = 0; while ($n < 2_000_000) { $n += strlen(socket_read($pair[1], 65_536)); delay(0); } return $n; });
        return [socket_write($pair[0], str_repeat('x', 2_000_000)), Async\await($reading)];
    }),
];
foreach (T\all($jobs) as $name => $result) echo "$name: ", json_encode($result), "\n";
$serving->cancel();
?>
--EXPECT--
lines: ["ONE\n","TWO\n"]
waitall: [8,"ABC\nDEF\n"]
peek: ["XY","XYZ\n"]
dontwait: [false,true]
nonblock: [false,true,"X\n"]
timeout: [false,true,true]
refused: [false,true]
select: [true,["one"],1,["two"]]
sendto a full buffer: [2000000,2000000]
