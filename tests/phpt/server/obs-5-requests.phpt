--TEST--
OBS-5 Server::requests() says how far each request is, and where its coroutines are
--FILE--
<?php
require __DIR__ . '/server.inc';

use Async\Http\{Request, Response, Server};
use function Async\spawn;

$gate = new Async\Channel;
function waits(Async\Channel $gate): string
{
    return $gate->recv();
}
$server = S\serve(function (Request $request) use ($gate) {
    if ($request->isWebSocket()) {
        $request->upgrade();
        waits($gate);
        return null;
    }
    return match ($request->path()) {
        '/stream' => new Response((function () use ($gate) {
            yield 'begun ';
            yield $gate->recv();
        })()),
        default => waits($gate),
    };
}, ['max_concurrency' => 2, 'queue_timeout' => 0]);
$show = function () use ($server): void {
    foreach ($server->requests() as $request) {
        ['id' => $id, 'seconds' => $seconds, 'coroutine' => $coroutine, 'where' => $where] = $request;
        echo "$request[method] $request[target] $request[client] $request[stage]", preg_match('/^[0-9a-f]{32}$/', $id) && $seconds >= 0 && $seconds < 60 ? '' : ', wrong',
            $coroutine > 0 && str_starts_with($where, "  #$coroutine ") ? '' : ', no coroutine', "\n", preg_replace(['~/\S*/~', '/#\d+ /', '/ for \d+\.\d s/'], ['', '# ', ''], $where);
    }
};
var_dump($server->requests());

$answers = [];
foreach (['/waits?a=1', '/stream', '/queued'] as $n => $path) {
    $answers[] = spawn(S\get(...), $server, $path);
    T\until(fn () => count($server->requests()) > $n && ($path !== '/stream' || $server->requests()[$n]['stage'] === 'responding'));
}
$show();
for ($i = 0; $i < 3; $i++) $gate->send("$i");
echo implode(' ', array_map(Async\await(...), $answers)), "\n";
T\until(fn () => $server->requests() === []);

$client = S\connect($server);
fwrite($client, "GET /socket HTTP/1.1\r\nHost: test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
T\until(fn () => ($server->requests()[0]['stage'] ?? '') === 'websocket');
$show();
fclose($client);
T\until(fn () => $server->requests() === []);

echo "--- one that goes on after its response\n";
$worker = (new Server())->listen('127.0.0.1:0')->worker(function () use ($gate): void {
    echo 'answered';
    Async\Http\finish();
    waits($gate);
});
spawn($worker->run(...));
echo S\get($worker, '/after'), "\n";
T\until(fn () => ($worker->requests()[0]['stage'] ?? '') === 'ended');
echo $worker->requests()[0]['target'], ' ', str_contains($worker->requests()[0]['where'], 'waits') ? 'waits' : 'is elsewhere', "\n";
$gate->send('');
T\until(fn () => $worker->requests() === []);
$worker->stop();
$server->stop();
--EXPECTF--
array(0) {
}
GET /waits?a=1 127.0.0.1 running
  # suspended, spawned at server.inc:15, suspended at obs-5-requests.php:10, waits in Channel::recv()
    # obs-5-requests.php(10): Async\Channel->recv()
    # obs-5-requests.php(23): waits()
    # [internal function]: {closure%S}()
    # server.inc(15): Async\Http\Server::run()
GET /stream 127.0.0.1 responding
  # suspended, spawned at server.inc:15, suspended at obs-5-requests.php:21, waits in Channel::recv()
    # obs-5-requests.php(21): Async\Channel->recv()
    # Async\Http(3): {closure%S}()
    # [internal function]: {closure%S}()
    # server.inc(15): Async\Http\Server::run()
GET /queued 127.0.0.1 queued, no coroutine
0 begun 1 2
GET /socket 127.0.0.1 websocket
  # suspended, spawned at server.inc:15, suspended at obs-5-requests.php:10, waits in Channel::recv()
    # obs-5-requests.php(10): Async\Channel->recv()
    # obs-5-requests.php(15): waits()
    # [internal function]: {closure%S}()
    # server.inc(15): Async\Http\Server::run()
--- one that goes on after its response
answered
/after waits
