--TEST--
H5 urgent TCP data: the mark splits the reads and is told as an exceptional condition
--EXTENSIONS--
sockets
--FILE--
<?php
use function Async\{spawn, suspend};

require __DIR__ . '/kit.inc';

$server = socket_create_listen(0);
socket_getsockname($server, $host, $port);
$client = socket_create(AF_INET, SOCK_STREAM, SOL_TCP);
socket_connect($client, '127.0.0.1', $port);
$peer = socket_accept($server);

$select = spawn(function() use ($peer) {
    $r = $w = null;
    $x = [$peer];
    return socket_select($r, $w, $x, 600);
});
$reader = spawn(function() use ($peer, $select) {
    Async\await($select);
    $out = [];
    while (($n = socket_recv($peer, $data, 100, 0)) > 0) {
        $out[] = $data;
        if (str_ends_with($data, 'before')) {
            socket_recv($peer, $urgent, 1, MSG_OOB);
            $out[] = "urgent $urgent";
        }
    }
    return $out;
});
T\parked($select);
socket_send($client, 'before', 6, 0);
socket_send($client, '!', 1, MSG_OOB);
socket_send($client, 'after', 5, 0);
T\turns(20);
socket_close($client);
echo Async\await($select), ' ', implode(', ', Async\await($reader, Async\timeout(60_000))), "\n";
?>
--EXPECT--
1 before, urgent !, after
