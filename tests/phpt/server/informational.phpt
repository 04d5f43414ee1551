--TEST--
Async\Http: 100 Continue is sent when the body is asked for; other informational responses are errors of the handler, of which only its own request knows
--FILE--
<?php
require __DIR__ . '/server.inc';

use Async\Http\{Request, Response};

eval('namespace Psr\Http\Message; interface ResponseInterface {}');
class Early implements Psr\Http\Message\ResponseInterface
{
    public function getStatusCode() { return 103; }
    public function getHeaders() { return ['Link' => ['</a.css>; rel=preload']]; }
    public function getBody() { return new SplTempFileObject; }
}

$log = S\log_file();
$server = S\serve(fn(Request $r) => match ($r->path()) {
    '/body' => strrev($r->body()),
    '/pieces' => (function () use ($r) { while (($piece = $r->read()) !== null) yield strtoupper($piece); })(),
    '/unread' => 'not read',
    '/refused' => throw new Async\Http\BadRequest('not wanted'),
    '/early' => new Early,
    '/new' => new Response('', 103, ['Link' => '</a.css>; rel=preload']),
    '/switch' => new Response('', 101),
    default => 'page',
});

/** Sends a head that expects to be asked for the body, the body if it is, and a further request. */
function expects(string $path, string $coding = 'Content-Length: 5', string $body = 'abcde', string $version = '1.1'): string
{
    global $server;
    $client = S\connect($server);
    fwrite($client, "POST $path HTTP/$version\r\nHost: test\r\nExpect: 100-continue\r\n$coding\r\n\r\n");
    $first = fgets($client);
    if ($first === "HTTP/1.1 100 Continue\r\n") {
        fgets($client) === "\r\n" || throw new Exception('100 has headers');
        fwrite($client, $body . S\request('GET', '/'));
    }
    $rest = preg_replace('~^(\S*: .*\R)+|\R(date|content-\w+|transfer-encoding): .*|\R+~i', ' ', stream_get_contents($client));
    return trim($first) . ' … ' . trim(preg_replace('/ +/', ' ', $rest));
}

echo expects('/body'), "\n", expects('/pieces', 'Transfer-Encoding: chunked', "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"), "\n";
// The client may keep its body to itself then, so where the next request would begin is not known.
echo expects('/unread'), "\n", expects('/refused'), "\n", expects('/body', 'Content-Length: 1000000000'), "\n";

foreach (['early', 'new', 'switch', 'page'] as $what) {
    $answer = S\send($server, S\request('GET', "/$what"));
    echo "$what: ", S\status($answer), ' ', trim(S\body($answer)), ' ', S\reports($log), "\n";
}
// On one connection the next request is answered as if nothing had happened.
$client = S\connect($server);
fwrite($client, "GET /early HTTP/1.1\r\nHost: test\r\n\r\n" . S\request('GET', '/'));
echo implode(' ', preg_grep('/^HTTP|^page$/', preg_split('/\R/', stream_get_contents($client)))), "\n";
$server->stop();
?>
--EXPECT--
HTTP/1.1 100 Continue … HTTP/1.1 200 OK edcbaHTTP/1.1 200 OK connection: close page
HTTP/1.1 100 Continue … HTTP/1.1 200 OK 3 ABC 2 DE 0 HTTP/1.1 200 OK connection: close page
HTTP/1.1 200 OK … not read
HTTP/1.1 400 Bad Request … 400 Bad Request
HTTP/1.1 413 Payload Too Large … 413 Payload Too Large
early: 500 500 Internal Server Error Warning:  Uncaught ValueError: The status of a response must be from 200 to 599: informational ones cannot be sent
new: 500 500 Internal Server Error Warning:  Uncaught ValueError: The status of a response must be from 200 to 599: informational ones cannot be sent
switch: 500 500 Internal Server Error Warning:  Uncaught ValueError: The status of a response must be from 200 to 599: informational ones cannot be sent
page: 200 page 
HTTP/1.1 500 Internal Server Error HTTP/1.1 200 OK page
