--TEST--
Async\Http: TLS with PHP's own clients: hosts, versions, protocols, bodies both ways, WebSockets, the log, plain HTTP
--EXTENSIONS--
openssl
--FILE--
<?php
require __DIR__ . '/server.inc';
require __DIR__ . '/websocket.inc';
require __DIR__ . '/tls.inc';

use Async\Http\{Request, Server, Tls, Writer};
use function Async\spawn;

T\work_in();
L\certificate('one', 'one.example', 'localhost');
L\certificate('two', 'two.example', '*.two.example');
$log = S\log_file();

$handler = function(Request $r) {
    if ($r->isWebSocket()) {
        foreach ($socket = $r->upgrade() as $message) $socket->send("{$r->scheme()} $message");
        return null;
    }
    return match ($r->path()) {
        '/md5' => md5($r->body()) . ' ' . strlen($r->body()),
        '/large' => function(Writer $w) { for ($i = 0; $i < 64; $i++) $w->write(str_repeat(chr(64 + $i), 65536)); },
        '/small' => function(Writer $w) { foreach (['a', '', 'b', '', '', 'c'] as $piece) { $w->write($piece); $w->flush(); } },
        default => "{$r->scheme()} {$r->host()} {$r->protocol()}",
    };
};
$server = L\serve((new Tls('one.pem', 'one.key'))->add('two.pem', 'two.key'), $handler);
$entries = [];
$server->accessLog(function(array $entry) use (&$entries) { $entries[] = "{$entry['scheme']} {$entry['target']} {$entry['status']}"; });

echo "--- hosts, whose certificates the client checks\n";
foreach ([['one', 'one.example'], ['two', 'two.example'], ['two', 'a.two.example'], ['one', 'two.example'], ['two', 'three.example']] as [$name, $host]) {
    $client = L\connect($server, "$name.pem", $host);
    echo "$name $host: ", is_string($client) ? substr($client, 0, 7) : S\body(L\send($client, S\request('GET', '/'))), "\n";
}
echo file_get_contents("https://{$server->address()}/x", context: L\context('one.pem', 'one.example', [], ['header' => 'Host: one.example'])), "\n";

echo "--- versions and protocols\n";
foreach ([STREAM_CRYPTO_METHOD_TLSv1_2_CLIENT, STREAM_CRYPTO_METHOD_TLSv1_3_CLIENT, STREAM_CRYPTO_METHOD_TLSv1_1_CLIENT] as $method) {
    foreach (['', 'http/1.1', 'h2,http/1.1', 'spdy/1'] as $alpn) {
        $client = L\connect($server, 'one.pem', 'one.example', ['crypto_method' => $method] + ($alpn ? ['alpn_protocols' => $alpn] : []));
        $crypto = is_string($client) ? [] : stream_get_meta_data($client)['crypto'];
        echo $crypto['protocol'] ?? 'refused', ' ', $crypto['alpn_protocol'] ?? '-', $alpn === 'spdy/1' ? "\n" : ', ';
    }
}

echo "--- bodies\n";
$data = random_bytes(3_000_000);
$client = L\connect($server, 'one.pem', 'one.example');
spawn(fn() => fwrite($client, S\request('POST', '/md5', $data)));
var_dump(S\body(stream_get_contents($client)) === md5($data) . ' 3000000');
$client = L\connect($server, 'one.pem', 'one.example');
$expected = implode('', array_map(fn($i) => str_repeat(chr(64 + $i), 65536), range(0, 63)));
var_dump(S\body(L\send($client, S\request('GET', '/large'))) === $expected);
$client = L\connect($server, 'one.pem', 'one.example');
echo S\body(L\send($client, S\request('GET', '/small'))), "\n";

echo "--- WebSockets\n";
$client = L\connect($server, 'one.pem', 'one.example');
fwrite($client, W\ASK . "\r\n" . W\frame(1, 'at once'));
while (fgets($client) !== "\r\n");
echo W\receive($client), "\n";
W\send($client, str_repeat('x', 500_000));
echo strlen(W\receive($client)), "\n";
fwrite($client, W\frame(8, pack('n', 1000)));
echo W\receive($client), "\n";
var_dump(W\receive($client));

echo "--- plain HTTP\n";
echo S\send($server, S\request('GET', '/')), "\n";
unset($client);
T\until(fn() => $server->stats()['connections'] === 0);
$server->stop();
T\until(fn() => count($entries) >= 8);
echo implode("\n", $entries), "\n";
?>
--EXPECT--
--- hosts, whose certificates the client checks
one one.example: https test HTTP/1.1
two two.example: https test HTTP/1.1
two a.two.example: https test HTTP/1.1
one two.example: failed:
two three.example: failed:
https one.example HTTP/1.1
--- versions and protocols
TLSv1.2 -, TLSv1.2 http/1.1, TLSv1.2 h2, refused -
TLSv1.3 -, TLSv1.3 http/1.1, TLSv1.3 h2, refused -
refused -, refused -, refused -, refused -
--- bodies
bool(true)
bool(true)
abc
--- WebSockets
1:https at once
500008
8:1000 
string(0) ""
--- plain HTTP
HTTP/1.1 400 Bad Request
Content-Type: text/plain; charset=utf-8
Content-Length: 36
Connection: close

Use https:// for this host and port

https / 200
https / 200
https / 200
https /x 200
https /md5 200
https /large 200
https /small 200
https / 101
