--TEST--
Async\Http: a response to HEAD has the length that the handler gives, or that of its body; a PSR-7 response has its reason phrase; where a proxy finds a file is for a proxy
--FILE--
<?php
require __DIR__ . '/server.inc';

use Async\Http\{Request, Response};

eval('namespace Psr\Http\Message; interface ResponseInterface {}');
class Own implements Psr\Http\Message\ResponseInterface
{
    public function getStatusCode() { return 299; }
    public function getHeaders() { return []; }
    public function getBody() { return new class { public function isSeekable() { return false; } public function eof() { return true; } }; }
    public function getReasonPhrase() { return 'Its own'; }
}
$handler = fn(Request $r) => match ($r->path()) {
    '/given' => new Response('', 200, ['Content-Length' => '51']),
    '/body' => new Response('four', 200, ['Content-Length' => '51']),
    '/none' => new Response(''),
    '/psr' => new Own,
    '/file' => new Response('', 200, ['X-Accel-Redirect' => '/srv/a', 'X-Sendfile' => '/srv/b', 'X-Other' => 'c']),
};
$server = S\serve($handler);
$head = fn($server, string $method, string $path): string => implode(', ', preg_grep('~^(HTTP|content-length|x-)~', explode("\r\n", S\send($server, S\request($method, $path)))));
foreach (['/given', '/body', '/none'] as $path) {
    echo $head($server, 'HEAD', $path), "\n";
}
echo $head($server, 'GET', '/body'), "\n", $head($server, 'GET', '/psr'), "\n", $head($server, 'GET', '/file'), "\n";
$server->stop();
$server = S\serve($handler, ['trusted_proxies' => ['127.0.0.1']]);
echo $head($server, 'GET', '/file'), "\n";
$server->stop();
?>
--EXPECT--
HTTP/1.1 200 OK, content-length: 51
HTTP/1.1 200 OK, content-length: 4
HTTP/1.1 200 OK, content-length: 0
HTTP/1.1 200 OK, content-length: 4
HTTP/1.1 299 Its own, content-length: 0
HTTP/1.1 200 OK, x-other: c, content-length: 0
HTTP/1.1 200 OK, x-accel-redirect: /srv/a, x-sendfile: /srv/b, x-other: c, content-length: 0
