--TEST--
IO-12 who polls by calls that never wait lets others run
--EXTENSIONS--
curl
--FILE--
<?php
use function Async\{await, spawn};

require __DIR__ . '/kit.inc';
require __DIR__ . '/http-server.inc';

[$url, $server] = T\http_server(fn($path) => "answer to $path");
$multi = curl_multi_init();

// The server is in this process: if nothing else ran, there would never be an answer.
curl_multi_add_handle($multi, $curl = T\curl("$url/exec"));
do curl_multi_exec($multi, $running); while ($running);
echo curl_multi_getcontent($curl), "\n";

curl_multi_add_handle($multi, $curl = T\curl("$url/select"));
curl_multi_exec($multi, $running);
$polls = 0;
while (curl_multi_select($multi, 0) < 1 || curl_multi_exec($multi, $running) || $running) $polls++;
echo curl_multi_getcontent($curl), "\n";

[$a, $b] = T\pair();
stream_set_blocking($a, false);
foreach ([
    'fread' => fn() => fread($a, 1),
    'stream_select' => function() use ($a) {
        [$r, $w, $x] = [[$a], null, null];
        return stream_select($r, $w, $x, 0) ? fread($a, 1) : '';
    },
    'stream_socket_recvfrom' => fn() => stream_socket_recvfrom($a, 1),
] as $name => $poll) {
    spawn(fn() => fwrite($b, 'x'));
    for ($n = 0; ($got = (string) $poll()) === ''; $n++);
    T\check($name, $got === 'x' && $n > 0, "$got after $n");
}

// One that is always ready
$ran = false;
fwrite($b, str_repeat('x', 5000));
stream_set_read_buffer($a, 0);
spawn(function() use (&$ran) { $ran = true; });
for ($n = 0; !$ran && $n < 5000; $n++) {
    [$r, $w, $x] = [[$a], null, null];
    stream_select($r, $w, $x, 0);
    fread($a, 1);
}
T\check('always ready', $ran, $n);
$server->cancel();
?>
--EXPECT--
answer to /exec
answer to /select
fread: yes
stream_select: yes
stream_socket_recvfrom: yes
always ready: yes
