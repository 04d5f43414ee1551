--TEST--
Async\Http: a WebSocket whose client leaves cancels what its handler waits in, wherever that is; back-pressure; nothing is left behind
--FILE--
<?php
require __DIR__ . '/server.inc';
require __DIR__ . '/websocket.inc';

use Async\Http\{ClientDisconnected, Request, ServerStopped};
use function Async\{await, delay, spawn};

$seen = (object) ['ended' => [], 'sent' => 0, 'begun' => 0];
$server = S\serve(function(Request $r) use ($seen) {
    $socket = $r->upgrade();
    $first = 'nothing';
    try {
        $first = (string) $socket->receive();
        $seen->begun++;
        switch ($first) {
            case 'receive': $socket->receive(); $seen->ended[] = 'null'; return;
            case 'sleep': sleep(1000);
            case 'send': while (true) { $socket->sendBinary(str_repeat('x', 100_000)); $seen->sent++; }
            case 'child': await(spawn(fn() => $socket->receive()));
            case 'slow': delay(50); $seen->ended[] = (string) $socket->receive(); $seen->ended[] = json_encode($socket->receive()); return;
            case 'close and wait': $socket->close(); sleep(1000);
        }
    } catch (Throwable $t) {
        $seen->ended[] = "$first: " . $t::class;
        throw $t;
    }
}, ['write_window' => 1000]);

foreach (['receive', 'sleep', 'child', 'close and wait'] as $what) {
    $client = W\open($server);
    [$before] = [$seen->begun, W\send($client, $what)];
    T\until(fn() => $seen->begun > $before);
    delay(1);
    if ($what === 'close and wait') W\receive($client);
    fclose($client);
    T\until(fn() => $server->stats()['running'] === 0);
}
echo "one whose messages are not read any more, because nobody takes them:\n";
foreach ([20, 300] as $count) {
    $client = W\open($server);
    [$before] = [$seen->begun, W\send($client, 'sleep')];
    fwrite($client, str_repeat(W\frame(1, str_repeat('a', 100)), $count));
    T\until(fn() => $seen->begun > $before);
    T\turns(20);
    fclose($client);
    T\until(fn() => $server->stats()['running'] === 0);
    echo array_pop($seen->ended), "\n";
}
echo "what was sent before a close is received, although the handler is late:\n";
$client = W\open($server);
fwrite($client, W\frame(1, 'slow') . W\frame(1, 'last') . W\frame(8, pack('n', 1000)));
fclose($client);
T\until(fn() => $server->stats()['running'] === 0 && count($seen->ended) >= 6);
print_r($seen->ended);

echo "a slow client:\n";
$seen->ended = [];
$client = W\open($server);
W\send($client, 'send');
do { $before = $seen->sent; delay(50); } while ($seen->sent === 0 || $seen->sent > $before);
$first = W\receive($client);
var_dump(strlen($first), $seen->sent < 1000);
for ($i = 0; $i < $before + 5; $i++) W\receive($client);
T\until(fn() => $seen->sent > $before);
fclose($client);
T\until(fn() => $server->stats()['running'] === 0);
echo implode(', ', $seen->ended), "\n";

echo "many:\n";
T\until(fn() => $server->stats()['connections'] === 0);
$descriptors = count(scandir('/proc/self/fd'));
$coroutines = count(Async\getCoroutines());
for ($round = 0; $round < 20; $round++) {
    [$clients, $before] = [[], $seen->begun];
    foreach (['receive', 'sleep', 'child', 'send', ''] as $what) {
        $clients[] = $client = W\open($server);
        if ($what !== '') W\send($client, $what);
    }
    T\until(fn() => $seen->begun === $before + 4);
    $clients = $client = null;
    T\until(fn() => $server->stats()['running'] === 0 && $server->stats()['connections'] === 0);
    if ($round === 5) $memory = memory_get_usage();
    $seen->ended = [];
}
var_dump(count(scandir('/proc/self/fd')) === $descriptors, count(Async\getCoroutines()) === $coroutines, memory_get_usage() < $memory + 20_000);

echo "stop:\n";
$one = W\open($server);
$two = W\open($server);
$before = $seen->begun;
W\send($one, 'receive');
W\send($two, 'sleep');
T\until(fn() => $seen->begun === $before + 2);
delay(1);
$server->stop(0.05);
echo W\receive($one), "\n", W\receive($two), "\n";
fclose($one);
fclose($two);
T\until(fn() => $server->stats()['running'] === 0);
sort($seen->ended);
print_r($seen->ended);
?>
--EXPECT--
one whose messages are not read any more, because nobody takes them:
sleep: Async\Http\ClientDisconnected
sleep: Async\Http\ClientDisconnected
what was sent before a close is received, although the handler is late:
Array
(
    [0] => receive: Async\Http\ClientDisconnected
    [1] => sleep: Async\Http\ClientDisconnected
    [2] => child: Async\Http\ClientDisconnected
    [3] => close and wait: Async\Http\ClientDisconnected
    [4] => last
    [5] => null
)
a slow client:
int(100002)
bool(true)
send: Async\Http\ClientDisconnected
many:
bool(true)
bool(true)
bool(true)
stop:
8:1001 The server stops
8:1001 The server stops
Array
(
    [0] => null
    [1] => sleep: Async\Http\ClientDisconnected
)
