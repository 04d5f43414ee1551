--TEST--
Async\Http: what proxies say of clients is believed of trusted ones only, in the headers that they set; wrong options
--FILE--
<?php
require __DIR__ . '/server.inc';
require __DIR__ . '/websocket.inc';

use Async\Http\{Request, Server};

$tells = function(Request $r) {
    if ($r->isWebSocket()) $r->upgrade();
    else return "{$r->scheme()} {$r->host()} {$r->clientAddress()} {$r->clientPort()}";
};
$headers = "X-Forwarded-For: 6.6.6.6, 203.0.113.7:99\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: shop.example\r\n"
    . "Forwarded: for=198.51.100.1;proto=https;host=other.example\r\n";
foreach ([[], ['trusted_proxies' => ['10.0.0.0/8']], ['trusted_proxies' => ['unix']], ['trusted_proxies' => ['127.0.0.0/8']],
    ['trusted_proxies' => ['::1', '127.0.0.1'], 'forwarded_headers' => 'forwarded']] as $options) {
    $server = S\serve($tells, $options);
    echo preg_replace('/127.0.0.1 \d{4,}/', '127.0.0.1 port', S\get($server, '/', $headers)), "\n";
    $asked = $headers . "Origin: https://shop.example\r\n";
    echo is_string($answer = W\open($server, $asked)) ? strtok($answer, "\r") : 'open', "\n";
    $answer = null;
    $server->stop(0.1);
}
$path = sys_get_temp_dir() . '/spindle-proxies-' . getmypid();
$server = (new Server(['trusted_proxies' => ['unix']]))->listen("unix:$path")->handle($tells);
Async\spawn($server->run(...));
$client = stream_socket_client("unix://$path");
fwrite($client, S\request('GET', '/', '', $headers));
echo S\body(stream_get_contents($client)), "\n";
$server->stop(0.1);
foreach ([['trusted_proxies' => '10.0.0.1'], ['trusted_proxies' => ['10.0.0.0/33']], ['trusted_proxies' => ['example.com']],
    ['trusted_proxies' => [1]], ['forwarded_headers' => 'both'], ['forwarded_headers' => 1]] as $options) {
    echo S\refused(fn() => new Server($options)), "\n";
}
?>
--EXPECT--
http test 127.0.0.1 port
HTTP/1.1 403 Forbidden
http test 127.0.0.1 port
HTTP/1.1 403 Forbidden
http test 127.0.0.1 port
HTTP/1.1 403 Forbidden
https shop.example 203.0.113.7 99
open
https other.example 198.51.100.1 0
HTTP/1.1 403 Forbidden
https shop.example 203.0.113.7 99
ValueError: The option "trusted_proxies" must be a list of "address", "address/length" or "unix"
ValueError: The option "trusted_proxies" must be a list of "address", "address/length" or "unix"
ValueError: The option "trusted_proxies" must be a list of "address", "address/length" or "unix"
ValueError: The option "trusted_proxies" must be a list of "address", "address/length" or "unix"
ValueError: The option "forwarded_headers" must be "x-forwarded" or "forwarded"
ValueError: The option "forwarded_headers" must be "x-forwarded" or "forwarded"
