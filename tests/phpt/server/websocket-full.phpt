--TEST--
Async\Http: a WebSocket whose messages nobody takes, and whose client leaves when it can send no more: a ping notices it
--FILE--
<?php
require __DIR__ . '/server.inc';
require __DIR__ . '/websocket.inc';

use Async\Http\Request;

$seen = [];
$server = S\serve(function(Request $r) use (&$seen) {
    $r->upgrade();
    try {
        sleep(1000);
    } catch (Throwable $t) {
        $seen[] = $t::class;
        throw $t;
    }
}, ['write_window' => 1000, 'websocket_ping' => 0.05]);
$client = W\open($server);
stream_set_blocking($client, false);
$data = str_repeat(W\frame(2, str_repeat('x', 1000)), 100);
// The kernel's buffers are full when nothing is taken although the server had its turns.
for ($idle = 0; $idle < 50;) {
    $idle = (int) @fwrite($client, $data) > 0 ? 0 : $idle + 1;
    T\turns(2);
}
fclose($client);
T\until(fn() => $server->stats()['running'] === 0 && $server->stats()['connections'] === 0);
print_r($seen);
$server->stop();
?>
--EXPECT--
Array
(
    [0] => Async\Http\ClientDisconnected
)
