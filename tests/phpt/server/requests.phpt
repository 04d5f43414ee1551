--TEST--
Async\Http: what a handler sees of a request
--FILE--
<?php
require __DIR__ . '/server.inc';

use Async\Http\{Request, Response};

$server = S\serve(fn(Request $r) => Response::json([
    $r->method(), $r->target(), $r->path(), $r->scheme(), $r->host(), $r->protocol(), $r->clientAddress(),
    $r->clientPort() > 0, $r->header('X-One'), $r->header('x-two'), $r->header('x-three'), $r->header('x-three', 'default'),
    $r->query(), $r->query('a'), $r->query('z', 7), $r->cookie(), $r->cookie('b'), $r->cookie('z', 'none'),
    $r->headers()['x-two'],
], flags: JSON_UNESCAPED_SLASHES));

echo S\get($server, '/p%20q/r?a[x]=1&a[]=2&b=%26', "X-One: 1\r\nX-Two: a\r\nx-two: b\r\nCookie: a=1; b=%41+; b=2; =3; c\r\nCookie: 5=x\r\n"), "\n";

$once = S\serve(function(Request $r) {
    $r->set('user', 'me')->set('5', [1]);
    return json_encode([$r->get('user'), $r->get('5'), $r->get('nobody'), $r->get('nobody', 'x'), $r->json(), $r->body(), $r->body()]);
});
echo S\body(S\send($once, S\request('POST', '/', '{"a":[1,2]}'))), "\n";

// What is no JSON is the client's fault.
$json = S\serve(function(Request $r) {
    try {
        return json_encode($r->json(JSON_BIGINT_AS_STRING));
    } catch (Async\Http\BadRequest $e) {
        return $r->path() === '/' ? throw $e : $e->getMessage() . ' (' . get_class($e->getPrevious()) . ": {$e->getPrevious()->getMessage()})";
    }
});
foreach (['[12345678901234567890]', 'null', '', '{"a"', "\"\xff\""] as $body) {
    echo S\body(S\send($json, S\request('POST', '/caught', $body))), ' ', S\status(S\send($json, S\request('POST', '/', $body))), "\n";
}

// An absolute target names the host; a request without a server is none.
$target = S\serve(fn(Request $r) => $r->host() . ' ' . $r->target());
echo S\body(S\send($target, "GET http://other:81/x?y HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n")), "\n";
echo S\body(S\send($target, "OPTIONS * HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n")), "\n";
echo S\refused(fn() => (new Request)->method()), "\n";
echo S\refused(fn() => (new Request)->body()), "\n";
echo S\refused(fn() => clone new Request), "\n";
foreach ([$server, $once, $json, $target] as $one) $one->stop();
?>
--EXPECT--
["GET","/p%20q/r?a[x]=1&a[]=2&b=%26","/p%20q/r","http","test","HTTP/1.1","127.0.0.1",true,"1","a, b",null,"default",{"a":{"x":"1","0":"2"},"b":"&"},{"x":"1","0":"2"},7,{"a":"1","b":"A+","5":"x"},"A+","none",["a","b"]]
["me",[1],null,"x",{"a":[1,2]},"{\"a\":[1,2]}","{\"a\":[1,2]}"]
["12345678901234567890"] 200
null 200
The body of the request is not JSON (JsonException: Syntax error) 400
The body of the request is not JSON (JsonException: Syntax error) 400
The body of the request is not JSON (JsonException: Malformed UTF-8 characters, possibly incorrectly encoded) 400
other:81 /x?y
test *
Async\Http\ServerException: This request belongs to no server
Async\Http\ServerException: This request belongs to no server
Error: Trying to clone an uncloneable object of class Async\Http\Request
