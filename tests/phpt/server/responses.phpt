--TEST--
Async\Http: what a handler may return
--FILE--
<?php
namespace Psr\Http\Message {
    interface ResponseInterface {}
}
namespace {
require __DIR__ . '/server.inc';

use Async\Http\{Request, Response, Writer};
use function Async\{delay, spawn, suspend};

final class PsrBody
{
    private int $at = 3;
    public function isSeekable() { return true; }
    public function rewind() { $this->at = 0; }
    public function eof() { return $this->at >= 3; }
    public function read(int $length) { return 'part ' . $this->at++ . ';'; }
}

final class Psr implements Psr\Http\Message\ResponseInterface
{
    public function getStatusCode() { return 203; }
    public function getHeaders() { return ['X-Psr' => ['a', 'b']]; }
    public function getBody() { return new PsrBody; }
}

$file = tmpfile();
fwrite($file, str_repeat('file ', 3));
rewind($file);
$server = S\serve(fn(Request $r) => match ($r->path()) {
    '/string' => 'text',
    '/null' => null,
    '/array' => ['a', 'b', 3],
    '/generator' => (function() { yield 'a'; delay(1); yield 'b'; })(),
    '/iterator' => new ArrayIterator(['a', 'b']),
    '/closure' => new Response(function(Writer $w) { $w->write('a'); $w->flush(); suspend(); $w->write(''); $w->write('b'); }, 202),
    '/stream' => new Response($file, 200, ['Content-Type' => 'x/y', 'Content-Length' => 15]),
    '/trailer' => (new Response('sum', headers: ['X' => 5]))->trailer('X-Sum', '6'),
    '/json' => Response::json(['a' => 1.0], 201, JSON_PRESERVE_ZERO_FRACTION),
    '/redirect' => Response::redirect('/elsewhere'),
    '/empty' => new Response,
    '/psr' => new Psr,
    '/headers' => (new Response('x', 200, ['Content-Type' => 'a/b', 'X' => ['1', '2'], 'Connection' => 'keep-alive', 'Transfer-Encoding' => 'gzip']))
        ->header('X', '3', false)->header('Y', ['4', '5'])->header('y', '6'),
    '/cookies' => (new Response)->cookie('a', 'b;c ü')->cookie('d', '', ['expires' => 86400, 'Path' => '/x', 'secure' => true, 'httponly' => true, 'samesite' => 'Lax', 'max-age' => 5]),
});

foreach (['string', 'null', 'array', 'generator', 'iterator', 'closure', 'stream', 'trailer', 'json', 'redirect', 'empty', 'psr', 'headers', 'cookies'] as $what) {
    [$head, $body] = explode("\r\n\r\n", S\send($server, S\request('GET', "/$what")), 2);
    $head = implode(' | ', preg_grep('/^(date|connection):/', explode("\r\n", $head), PREG_GREP_INVERT));
    echo "$what: ", substr($head, 9), ' => ', str_replace("\r\n", '/', $body), "\n";
}
echo 'HEAD: ', json_encode(preg_grep('/^content-length/', explode("\r\n", S\send($server, S\request('HEAD', '/string'))))), "\n";
$server->stop();
}
?>
--EXPECT--
string: 200 OK | content-type: text/html; charset=UTF-8 | content-length: 4 => text
null: 204 No Content => 
array: 200 OK | content-type: text/html; charset=UTF-8 | transfer-encoding: chunked => 1/a/1/b/1/3/0//
generator: 200 OK | content-type: text/html; charset=UTF-8 | transfer-encoding: chunked => 1/a/1/b/0//
iterator: 200 OK | content-type: text/html; charset=UTF-8 | transfer-encoding: chunked => 1/a/1/b/0//
closure: 202 Accepted | content-type: text/html; charset=UTF-8 | transfer-encoding: chunked => 1/a/1/b/0//
stream: 200 OK | content-type: x/y | content-length: 15 => file file file 
trailer: 200 OK | x: 5 | content-type: text/html; charset=UTF-8 | trailer: x-sum | transfer-encoding: chunked => 3/sum/0//
json: 201 Created | content-type: application/json | content-length: 9 => {"a":1.0}
redirect: 302 Found | location: /elsewhere | content-length: 0 => 
empty: 200 OK | content-length: 0 => 
psr: 203 Non Authoritative Information | x-psr: a | x-psr: b | transfer-encoding: chunked => 7/part 0;/7/part 1;/7/part 2;/0//
headers: 200 OK | content-type: a/b | x: 1 | x: 2 | x: 3 | y: 6 | content-length: 1 => x
cookies: 200 OK | set-cookie: a=b%3Bc%20%C3%BC | set-cookie: d=; Expires=Fri, 02 Jan 1970 00:00:00 GMT; Path=/x; Secure; HttpOnly; SameSite=Lax; Max-Age=5 | content-length: 0 => 
HEAD: {"2":"content-length: 4"}
