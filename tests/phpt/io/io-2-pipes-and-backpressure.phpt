--TEST--
IO-2 large data through pipes and sockets whose both ends are this process: nobody is stuck, all bytes arrive in order
--FILE--
<?php
use function Async\spawn;

require __DIR__ . '/kit.inc';

$data = '';
for ($i = 0; $i < 150_000; $i++) $data .= pack('NN', $i, $i * 7);
$hash = md5($data);

// through a child: writer and reader are different coroutines
$p = proc_open(['cat'], [['pipe', 'r'], ['pipe', 'w']], $pipes);
[$a, $b] = T\pair();
$jobs = [
    'written' => spawn(function() use ($pipes, $data) { $n = fwrite($pipes[0], $data); fclose($pipes[0]); return $n === strlen($data); }),
    'read' => spawn(fn() => md5(stream_get_contents($pipes[1])) === $hash),
    'sent' => spawn(function() use ($a, $data) { $n = fwrite($a, $data); stream_socket_shutdown($a, STREAM_SHUT_WR); return $n === strlen($data); }),
    'received' => spawn(function() use ($b, $hash) {
        $all = '';
        while (!feof($b)) {
            $all .= fread($b, 10_000);
            if (strlen($all) % 7 === 0) usleep(200);
        }
        return md5($all) === $hash;
    }),
    // both ends talk at the same time on one connection
    'both ways' => spawn(function() use ($data, $hash) {
        [$c, $d] = T\pair();
        $send = fn($s) => function() use ($s, $data) { fwrite($s, $data); stream_socket_shutdown($s, STREAM_SHUT_WR); };
        $get = fn($s) => fn() => md5(stream_get_contents($s));
        return array_unique(T\all([2 => spawn($get($c)), 3 => spawn($get($d)), 0 => spawn($send($c)), 1 => spawn($send($d))])) === [2 => $hash, 0 => null];
    }),
];
foreach (T\all($jobs) as $name => $ok) T\check($name, $ok);
?>
--EXPECT--
written: yes
read: yes
sent: yes
received: yes
both ways: yes
