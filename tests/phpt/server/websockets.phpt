--TEST--
Async\Http: WebSockets: messages, handshakes, origins, subprotocols, closing, failures and misuse
--FILE--
<?php
require __DIR__ . '/server.inc';
require __DIR__ . '/websocket.inc';

use Async\Http\{Message, Request, WebSocket};
use function Async\{delay, spawn};

$log = S\log_file();
$says = [];
$kept = null;
$server = S\serve(function(Request $r) use (&$says, &$kept) {
    $socket = $r->upgrade(['v2.chat', 'v1.chat'], ['https://app.example']);
    $says[] = $socket->protocol() ?? 'no protocol';
    foreach ($socket as $number => $message) {
        switch ((string) $message) {
            case 'binary': $socket->sendBinary("\xff\0"); break;
            case 'ping': $socket->ping('are you there'); break;
            case 'close': $socket->close(4000, 'so be it'); break;
            case 'return': return;
            case 'value': return 'a response';
            case 'throw': throw new RuntimeException('thrown');
            case 'wrong':
                foreach ([fn() => $socket->send("\xff"), fn() => $socket->ping(str_repeat('x', 126)), fn() => $socket->close(1005),
                    fn() => $socket->close(1000, str_repeat('x', 124)), fn() => $socket->close(70000), fn() => $r->upgrade(),
                    fn() => clone $socket, fn() => serialize($socket)] as $what) {
                    $socket->send(S\refused($what));
                }
                break;
            case 'keep': $kept = $socket; return;
            default: $socket->send("$number $message" . ($message->isBinary() ? ' (binary)' : ''));
        }
    }
    $says[] = 'closed ' . json_encode([$socket->closeCode(), $socket->closeReason(), $socket->isClosed()]);
});

$client = W\open($server);
W\send($client, 'häuser');
echo W\receive($client), "\n";
fwrite($client, W\frame(2, 'bytes'));
echo W\receive($client), "\n"; // a pong does not wait for the handler: it may overtake a message
fwrite($client, W\frame(1, 'in ', false) . W\frame(9, 'a ping') . W\frame(0, 'parts'));
echo W\receive($client), "\n", W\receive($client), "\n";
foreach (['binary', 'ping'] as $what) {
    W\send($client, $what);
    echo bin2hex(W\receive($client)), "\n";
}
fwrite($client, W\frame(8, pack('n', 4711) . 'bye'));
echo W\receive($client), '|', W\receive($client), "|\n";
T\until(fn() => $server->stats()['websockets'] === 0);
print_r($says);

echo "--- ends\n";
foreach (['close', 'return', 'value', 'throw', 'keep'] as $what) {
    $client = W\open($server);
    W\send($client, $what);
    echo "$what: ", W\receive($client), "\n";
    fwrite($client, W\frame(8, pack('n', 1000)));
    T\until(fn() => $server->stats()['running'] === 0);
}
echo S\reports($log), "\n";
echo json_encode($kept->receive()), ' ', S\refused(fn() => $kept->send('late')), "\n";

echo "--- misuse\n";
$client = W\open($server);
W\send($client, 'wrong');
for ($i = 0; $i < 8; $i++) echo W\receive($client), "\n";
foreach ([new WebSocket, new Message] as $object) {
    echo $object::class, ' ', S\refused(fn() => $object->send('x')), ' ', S\refused(fn() => var_dump((string) $object)), "\n";
}
echo S\refused(fn() => (new Request)->upgrade()), "\n";

echo "--- handshakes\n";
$head = fn($answer) => is_string($answer) ? strtok($answer, "\r\n") : 'open';
foreach (['v1.chat', 'v1.chat, v2.chat', 'other'] as $offer) {
    $says = [];
    echo "$offer: ", $head(W\open($server, "Sec-WebSocket-Protocol: $offer\r\n")), ", {$says[0]}\n";
}
foreach (['http://test', 'https://TEST', 'https://app.example', 'https://evil.example', 'http://test:81', 'null', 'http://test.evil'] as $origin) {
    echo "$origin: ", $head(W\open($server, "Origin: $origin\r\n")), "\n";
}
echo $head(W\open($server, "Content-Length: 3\r\n")), "\n";
preg_match_all('/^(HTTP.*|upgrade.*|sec-web.*)\r$/m', S\send($server, S\request('GET', '/')), $lines);
echo implode("\n", $lines[1]), "\n";
$server->stop(1);
?>
--EXPECTF--
1:0 häuser
1:1 bytes (binary)
10:a ping
1:2 in parts
323aff00
393a61726520796f75207468657265
8:4711 bye||
Array
(
    [0] => no protocol
    [1] => closed [4711,"bye",true]
)
--- ends
close: 8:4000 so be it
return: 8:1000 
value: 8:1011 
throw: 8:1011 
keep: 8:1000 
Warning:  Uncaught Async\Http\ServerException: A handler that has upgraded its request must return nothing
Warning:  Uncaught RuntimeException: thrown
null Async\Http\ClientDisconnected: The client has closed the connection
--- misuse
1:ValueError: The text of a message must be valid UTF-8: use sendBinary() for other data
1:ValueError: Async\Http\WebSocket::ping(): Argument #1 ($data) must be at most 125 bytes long
1:ValueError: Async\Http\WebSocket::close(): Argument #1 ($code) must be a code of RFC 6455 that may be sent, or from 3000 to 4999
1:ValueError: Async\Http\WebSocket::close(): Argument #2 ($reason) must be valid UTF-8 of at most 123 bytes
1:ValueError: Async\Http\WebSocket::close(): Argument #1 ($code) must be a code of RFC 6455 that may be sent, or from 3000 to 4999
1:Async\Http\ServerException: The request is answered or upgraded already
1:Error: Trying to clone an uncloneable object of class Async\Http\WebSocket
1:Exception: Serialization of 'Async\Http\WebSocket' is not allowed
Async\Http\WebSocket Async\Http\ServerException: This WebSocket belongs to no request Error: Object of class Async\Http\WebSocket could not be converted to string
Async\Http\Message Error: Call to undefined method Async\Http\Message::send() string(0) ""
nothing thrown
Async\Http\ServerException: This request belongs to no server
--- handshakes
v1.chat: open, v1.chat
v1.chat, v2.chat: open, v2.chat
other: open, no protocol
http://test: open
https://TEST: open
https://app.example: open
https://evil.example: HTTP/1.1 403 Forbidden
http://test:81: HTTP/1.1 403 Forbidden
null: HTTP/1.1 403 Forbidden
http://test.evil: HTTP/1.1 403 Forbidden
HTTP/1.1 400 Bad Request
HTTP/1.1 426 Upgrade Required
sec-websocket-version: 13
upgrade: websocket
