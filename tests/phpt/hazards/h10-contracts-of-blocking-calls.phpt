--TEST--
H10 a blocking send sends all, MSG_WAITALL waits for all, timeouts give what came, select leaves files ready
--EXTENSIONS--
sockets
--FILE--
<?php
use function Async\{delay, spawn};

require __DIR__ . '/kit.inc';

function sockets(): array
{
    socket_create_pair(AF_UNIX, SOCK_STREAM, 0, $pair);
    return $pair;
}
function later(int $ms, Socket $s, string ...$parts): void
{
    spawn(function() use ($ms, $s, $parts) { foreach ($parts as $part) { T\turns($ms); socket_write($s, $part); } });
}

$cases = [
    'write of 3 MB' => function() { [$a, $b] = sockets(); spawn(function() use ($b) { $n = 0; while ($n < 3_000_000) { $n += strlen(socket_read($b, 50_000)); if ($n % 9 === 0) delay(1); } }); return socket_write($a, str_repeat('x', 3_000_000)); },
    'send of 3 MB' => function() { [$a, $b] = sockets(); spawn(function() use ($b) { $n = 0; while ($n < 3_000_000) $n += strlen(socket_read($b, 50_000)); }); return socket_send($a, str_repeat('x', 3_000_000), 3_000_000, 0); },
    'waitall in three parts' => function() { [$a, $b] = sockets(); later(10, $b, 'abc', 'def', 'ghij'); $n = socket_recv($a, $data, 9, MSG_WAITALL); return [$n, $data, socket_read($a, 10)]; },
    'waitall and the end' => function() { [$a, $b] = sockets(); spawn(function() use ($b) { T\turns(5); socket_write($b, 'abc'); T\turns(5); socket_close($b); }); $n = socket_recv($a, $data, 9, MSG_WAITALL); return [$n, $data]; },
    'waitall and a timeout' => function() { [$a, $b] = sockets(); socket_set_option($a, SOL_SOCKET, SO_RCVTIMEO, ['sec' => 2, 'usec' => 0]); later(5, $b, 'abc'); $n = socket_recv($a, $data, 9, MSG_WAITALL); return [$n, $data, socket_get_option($a, SOL_SOCKET, SO_RCVTIMEO)['sec'] === 2]; },
    'send timeout' => function() { [$a, $b] = sockets(); socket_set_option($a, SOL_SOCKET, SO_SNDTIMEO, ['sec' => 0, 'usec' => 60_000]); $start = hrtime(true); $n = socket_write($a, str_repeat('x', 5_000_000)); return [$n > 0 && $n < 5_000_000, T\ms($start) >= 59, @socket_write($a, 'x'), socket_last_error($a) === SOCKET_EAGAIN]; },
    'receive timeout' => function() { [$a, $b] = sockets(); socket_set_option($a, SOL_SOCKET, SO_RCVTIMEO, ['sec' => 0, 'usec' => 30_000]); $start = hrtime(true); return [@socket_read($a, 5), socket_last_error($a) === SOCKET_EAGAIN, T\ms($start) >= 29]; },
    'select with a file' => function() { [$a, $b] = T\pair(); $r = [$a, $f = fopen(__FILE__, 'r')]; $w = [$f]; $x = null; $start = hrtime(true); return [stream_select($r, $w, $x, 600), array_keys($r), T\ms($start) < 60_000]; },
    'the peer resets' => function() { [$server, $address] = T\listener(); $c = stream_socket_client($address); $s = socket_import_stream(stream_socket_accept($server)); spawn(function() use (&$s) { T\turns(5); socket_set_option($s, SOL_SOCKET, SO_LINGER, ['l_onoff' => 1, 'l_linger' => 0]); socket_close($s); }); $r = @fread($c, 10); return [$r === '' || $r === false, feof($c)]; },
    'a broken pipe' => function() { [$a, $b] = sockets(); spawn(function() use ($b) { T\turns(5); socket_close($b); }); $n = @socket_write($a, str_repeat('x', 5_000_000)); $again = @socket_write($a, 'x'); return [$n === false || $n < 5_000_000, $again, socket_last_error($a) === SOCKET_EPIPE]; },
];
$jobs = [];
foreach ($cases as $name => $case) $jobs[$name] = spawn($case);
foreach (T\all($jobs) as $name => $result) echo "$name: ", json_encode($result), "\n";
?>
--EXPECT--
write of 3 MB: 3000000
send of 3 MB: 3000000
waitall in three parts: [9,"abcdefghi","j"]
waitall and the end: [3,"abc"]
waitall and a timeout: [3,"abc",true]
send timeout: [true,true,false,true]
receive timeout: [false,true,true]
select with a file: [2,[1],true]
the peer resets: [true,true]
a broken pipe: [true,false,true]
