--TEST--
Async\Http: event streams: framing, arguments, heart-beats, clients that leave, failures
--FILE--
<?php
require __DIR__ . '/server.inc';

use Async\Http\{Request, Response, Writer};
use function Async\{delay, spawn};

$log = S\log_file();
$seen = (object) ['ended' => 0];
$server = S\serve(function(Request $r) use ($seen) {
    switch ($r->path()) {
        case '/array': return Response::events(['one', ['data' => "two\nlines\r\nand\rmore\n", 'event' => 'kind', 'id' => 'x', 'retry' => 0], ['']]);
        case '/none': return Response::events([]);
        case '/last': return Response::events([(string) $r->header('last-event-id')]);
        case '/closure': return Response::events(function(Writer $w) { $w->event('a', id: ''); $w->event('b', retry: 5); });
        case '/beats': return Response::events(function(Writer $w) { delay(60); $w->event('end'); }, 0.01);
        case '/silent': return Response::events(function(Writer $w) { delay(60); $w->event('end'); }, 0);
        case '/throws': return Response::events((function() { yield 'a'; throw new RuntimeException('thrown'); })());
        case '/named': return Response::events([['data' => 'x', 'wrong' => 1]]);
        case '/waits': return Response::events((function() use ($seen) { try { yield 'a'; sleep(1000); } finally { $seen->ended++; } })());
    }
});
foreach (['/array', '/none', '/closure', '/silent'] as $path) echo "$path: ", json_encode(S\get($server, $path)), "\n";
echo S\get($server, '/last', "Last-Event-ID: 41\r\n");
$answer = S\send($server, S\request('GET', '/array'));
preg_match_all('/^(content-type|cache-control|x-accel-buffering): .*(?=\r$)/m', $answer, $lines);
sort($lines[0]);
echo implode("\n", $lines[0]), "\n";
$beats = S\get($server, '/beats');
var_dump(str_ends_with($beats, "data: end\n\n"), substr_count($beats, ":\n\n") > 0, str_replace(":\n\n", '', $beats) === "data: end\n\n");
foreach (['/throws', '/named'] as $path) {
    echo "$path: ", json_encode(S\get($server, $path)), "\n";
    echo S\reports($log), "\n";
}
$coroutines = count(Async\getCoroutines());
for ($i = 0; $i < 20; $i++) {
    $client = S\connect($server);
    fwrite($client, "GET /waits HTTP/1.1\r\nHost: x\r\n\r\n");
    while (fgets($client) !== "data: a\n");
    fclose($client);
    T\until(fn() => $server->stats()['running'] === 0);
}
var_dump($seen->ended, count(Async\getCoroutines()) === $coroutines);
echo S\reports($log), "--- misuse\n";
foreach ([fn() => Response::events('text'), fn() => Response::events(new stdClass), fn() => Response::events([], -1), fn() => Response::events([], NAN),
    fn() => (new Writer)->event('x'), fn() => (new Writer)->event('x', "a\nb"), fn() => (new Writer)->event('x', null, "a\0"), fn() => (new Writer)->event('x', retry: -1)] as $what) {
    echo S\refused($what), "\n";
}
$server->stop(1);
?>
--EXPECTF--
/array: "data: one\n\nevent: kind\nid: x\nretry: 0\ndata: two\ndata: lines\ndata: and\ndata: more\ndata: \n\ndata: \n\n"
/none: ""
/closure: "id: \ndata: a\n\nretry: 5\ndata: b\n\n"
/silent: "data: end\n\n"
data: 41

cache-control: no-store
content-type: text/event-stream
x-accel-buffering: no
bool(true)
bool(true)
bool(true)
/throws: "500 Internal Server Error\n"
Warning:  Uncaught RuntimeException: thrown
/named: "500 Internal Server Error\n"
Warning:  Uncaught Error: Unknown named parameter $wrong
int(20)
bool(true)
--- misuse
Error: The events of a response must be an iterable or a Closure, string given
Error: The events of a response must be an iterable or a Closure, stdClass given
ValueError: Async\Http\Response::events(): Argument #2 ($heartbeat) must be a number of seconds from 0 to 86400
ValueError: Async\Http\Response::events(): Argument #2 ($heartbeat) must be a number of seconds from 0 to 86400
Async\Http\ServerException: This writer belongs to no response
ValueError: Async\Http\Writer::event(): Argument #2 ($event) must not contain line breaks or zeros
ValueError: Async\Http\Writer::event(): Argument #3 ($id) must not contain line breaks or zeros
ValueError: Async\Http\Writer::event(): Argument #4 ($retry) must be greater than or equal to 0
