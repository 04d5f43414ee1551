--TEST--
IO-8 streams that are opened with one context are handles of their own, and each may be read and written at once
--FILE--
<?php
use function Async\{await, spawn};

require __DIR__ . '/kit.inc';

$server = stream_socket_server('tcp://127.0.0.1:0');
$url = 'tcp://' . stream_socket_get_name($server, false);
$context = stream_context_create();
$open = fn() => stream_socket_client($url, $e, $m, 600, STREAM_CLIENT_CONNECT, $context);
[$one, $p1, $two, $p2] = [$open(), stream_socket_accept($server), $open(), stream_socket_accept($server)];
fwrite($p2, "for two\n");
$waits = spawn(fn() => fgets($one));
T\parked($waits);
echo fgets($two);
T\check('the other direction', fwrite($one, "x\n") === 2 && fgets($p1) === "x\n");
T\check('still waiting', !$waits->isCompleted());
fwrite($p1, "at last\n");
echo await($waits);
?>
--EXPECT--
for two
the other direction: yes
still waiting: yes
at last
