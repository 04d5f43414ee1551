--TEST--
OBS-2 each request has an id, which its handler, the coroutines that it spawns and the access log have, and its client if that is wanted
--FILE--
<?php
require __DIR__ . '/server.inc';

use Async\Http\{Request, Server};
use function Async\{await, spawn};
use function Async\Http\requestId;

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

$start = function (array $options, bool $isWorker = false) {
    $server = (new Server($options))->listen('127.0.0.1:0')->accessLog(function (array $entry) { $GLOBALS['logged'][] = $entry; });
    $isWorker
        ? $server->worker(function () { echo json_encode([requestId(), await(spawn(requestId(...))), Async\currentCoroutine()->getId()]); })
        : $server->handle(fn (Request $r) => json_encode([$r->id(), await(spawn(requestId(...))), Async\currentCoroutine()->getId()]));
    spawn($server->run(...));
    return $server;
};
$ask = function (Server $server, string $headers = '') {
    $GLOBALS['logged'] = [];
    $answer = S\send($server, S\request('GET', '/', '', $headers));
    [$own, $spawned, $coroutine] = json_decode(S\body($answer), true);
    T\until(fn () => $GLOBALS['logged']);
    $entry = $GLOBALS['logged'][0];
    preg_match('/^x-request-id: (\S+)\r$/m', $answer, $found);
    echo $own === $spawned && $own === $entry['request_id'] && $coroutine === $entry['coroutine'] ? 'the same everywhere' : 'different', ', ',
        preg_match('/^[0-9a-f]{32}$/', $own) ? 'its own' : $own, ', trace ', $entry['trace_id'] ?? 'none', ', told ', ($found[1] ?? null) === $own ? 'it' : $found[1] ?? 'nothing', "\n";
    return $own;
};
$given = "X-Request-Id: from-a-proxy\r\ntraceparent: 00-" . TRACE . "-00f067aa0ba902b7-01\r\n";
foreach ([false, true] as $isWorker) {
    echo $isWorker ? "--- worker mode\n" : "--- a handler\n";
    $server = $start([], $isWorker);
    var_dump($ask($server) !== $ask($server));
    $ask($server, $given);
    $server->stop();
    $server = $start(['trusted_proxies' => ['127.0.0.1'], 'send_request_id' => true], $isWorker);
    $ask($server, $given);
    $ask($server, "X-Request-Id: <script>\r\ntraceparent: 00-" . str_repeat('0', 32) . "-00f067aa0ba902b7-01\r\n");
    $server->stop();
}
var_dump(requestId());
echo S\refused(fn () => new Server(['send_request_id' => 1])), "\n";
?>
--EXPECT--
--- a handler
the same everywhere, its own, trace none, told nothing
the same everywhere, its own, trace none, told nothing
bool(true)
the same everywhere, its own, trace 4bf92f3577b34da6a3ce929d0e0e4736, told nothing
the same everywhere, from-a-proxy, trace 4bf92f3577b34da6a3ce929d0e0e4736, told it
the same everywhere, its own, trace none, told it
--- worker mode
the same everywhere, its own, trace none, told nothing
the same everywhere, its own, trace none, told nothing
bool(true)
the same everywhere, its own, trace 4bf92f3577b34da6a3ce929d0e0e4736, told nothing
the same everywhere, from-a-proxy, trace 4bf92f3577b34da6a3ce929d0e0e4736, told it
the same everywhere, its own, trace none, told it
NULL
ValueError: The option "send_request_id" must be a bool
