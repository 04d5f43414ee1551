--TEST--
H10 connects and accepts with timeouts, many at once on one small backlog, refused and given up
--FILE--
<?php
use function Async\{delay, spawn};

require __DIR__ . '/kit.inc';

$server = stream_socket_server('tcp://127.0.0.1:0', $errno, $error, STREAM_SERVER_BIND | STREAM_SERVER_LISTEN, stream_context_create(['socket' => ['backlog' => 2]]));
$address = 'tcp://' . stream_socket_get_name($server, false);
$accepting = spawn(function() use ($server) {
    $n = 0;
    while ($n < 12) {
        $c = stream_socket_accept($server, 600);
        $n++;
        spawn(function() use ($c) { fwrite($c, strrev(fgets($c))); });
        delay(1);
    }
    return [$n, @stream_socket_accept($server, 0.1)];
});
$jobs = [];
for ($i = 0; $i < 12; $i++) $jobs[] = spawn(function() use ($address, $i) { $s = stream_socket_client($address, $errno, $error, 600); fwrite($s, "$i ok\n"); return trim(stream_get_contents($s)); });
$results = T\all($jobs);
var_dump($results === array_map(fn($i) => strrev("$i ok"), range(0, 11)));
T\check('the accept gives up after its time', Async\await($accepting) === [12, false]);

// an asynchronous connect is the program's own affair and stays so
$r = Async\await(spawn(function() use ($address) {
    $s = stream_socket_client($address, $errno, $error, 600, STREAM_CLIENT_CONNECT | STREAM_CLIENT_ASYNC_CONNECT);
    $w = [$s];
    $r = $x = null;
    return stream_select($r, $w, $x, 600);
}));
echo "$r\n";
?>
--EXPECT--
bool(true)
the accept gives up after its time: yes
1
