--TEST--
Async\Http: a client that resets its connection is noticed behind a body that nobody reads, also if no more of that has room
--FILE--
<?php
require __DIR__ . '/server.inc';

use Async\Http\{ClientDisconnected, Request};
use function Async\delay;

$left = null;
$server = S\serve(function(Request $r) use (&$left) {
    try {
        if ($r->path() === '/wait') delay(1_000_000);
    } catch (ClientDisconnected $left) {
        throw $left;
    }
    return 'at once';
}, ['request_timeout' => 0, 'body_timeout' => 0, 'max_body_size' => 1 << 40]);
$client = S\connect($server);
fwrite($client, "GET / HTTP/1.1\r\nHost: test\r\n\r\nPOST /wait HTTP/1.1\r\nHost: test\r\nContent-Length: " . (1 << 40) . "\r\n\r\n");
T\until(fn() => $server->stats()['requests'] === 2);
stream_set_blocking($client, false);
// Until the system takes no more.
for ($refused = 0; $refused < 20; delay(1)) $refused = (int) fwrite($client, str_repeat('x', 65536)) > 0 ? 0 : $refused + 1;
echo $server->stats()['running'], " runs\n";
// There is an answer that it has not read, so the connection is reset.
fclose($client);
T\until(fn() => $server->stats()['running'] === 0);
echo $left::class, "\n";
$server->stop();
?>
--EXPECT--
1 runs
Async\Http\ClientDisconnected
