--TEST--
Async\Http: a client that takes nothing is cut off by write_timeout, whatever its handler writes with, and over HTTP/2 without the other streams
--FILE--
<?php
require __DIR__ . '/server.inc';

use Async\Http\{ClientDisconnected, Request, Response, Server, Writer};
use function Async\{await, delay, spawn};

/** A frame of HTTP/2. */
function frame(int $type, int $flags, int $stream, string $payload): string
{
    return substr(pack('N', strlen($payload)), 1) . chr($type) . chr($flags) . pack('N', $stream) . $payload;
}

/** GET $path on a stream. */
function get(int $stream, string $path): string
{
    return frame(1, 5, $stream, "\x82\x86\x04" . chr(strlen($path)) . $path . "\x41\x04test");
}

/** Begins HTTP/2 with a window of no bytes for each stream. @return resource */
function closed(Server $server)
{
    $client = S\connect($server);
    fwrite($client, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" . frame(4, 0, 0, pack('nN', 4, 0)));
    return $client;
}

/** The next frame: type, flags, stream, payload. */
function next_frame($client): array
{
    $head = unpack('Nlength/Cflags/Nstream', "\0" . substr($bytes = stream_get_contents($client, 9), 0, 3) . substr($bytes, 4));
    return [ord($bytes[3]), $head['flags'], $head['stream'], $head['length'] ? stream_get_contents($client, $head['length']) : ''];
}

$log = [];
$much = str_repeat('x', 1 << 20);
$ways = [
    '/write' => function (Writer $w) use ($much) { while (true) $w->write($much); },
    '/flush' => function (Writer $w) use ($much) { while (true) { $w->write($much); $w->flush(); } },
    '/iterable' => (function () use ($much) { while (true) yield $much; })(),
];
$noted = function (string $path, callable $what) use (&$log): void {
    try {
        $what();
    } catch (ClientDisconnected) {
        $log[] = "$path: ClientDisconnected";
        throw new Async\CancellationException('it has left');
    }
};
$handler = function (Request $r) use ($ways, $noted) {
    $way = $ways[$r->path()] ?? null;
    return match (true) {
        $way === null => 'Hello',
        $way instanceof Closure => new Response(fn(Writer $w) => $noted($r->path(), fn() => $way($w))),
        default => new Response((function () use ($way) { try { yield from $way; } finally { $GLOBALS['log'][] = '/iterable: ended'; } })()),
    };
};
$server = S\serve($handler, ['write_timeout' => 0.3, 'write_window' => 65536]);
foreach (array_keys($ways) as $path) {
    $client = closed($server);
    fwrite($client, get(1, $path));
    T\until(fn() => $server->stats()['running'] === 1);
    T\until(fn() => $server->stats()['running'] === 0);
    // The connection is there, and its other streams.
    fwrite($client, get(3, '/other') . frame(8, 0, 3, pack('N', 100)));
    do [$type, , $stream, $payload] = next_frame($client); while (!($type === 0 && $stream === 3 && $payload !== ''));
    // What the client takes now is incomplete.
    fwrite($client, frame(8, 0, 1, pack('N', 1 << 30)) . frame(8, 0, 0, pack('N', 1 << 30)));
    do [$type, $flags, $stream] = next_frame($client); while (!($stream === 1 && ($type === 3 || $type === 0 && $flags & 1)));
    echo "$payload, ", $type === 3 ? 'reset' : 'complete', '; ', implode(', ', $log), "\n";
    $log = [];
    fclose($client);
}
$server->stop();

echo "-- worker mode\n";
$worker = (new Server(['write_timeout' => 0.3, 'write_window' => 65536]))->listen('127.0.0.1:0')->worker(function () use ($much) {
    if ($_SERVER['REQUEST_URI'] === '/other') {
        echo 'Hello';
        return;
    }
    while (true) {
        echo $much;
        flush();
    }
});
spawn($worker->run(...));
$client = closed($worker);
fwrite($client, get(1, '/echo'));
T\until(fn() => [$worker->stats()['requests'], $worker->stats()['running']] === [1, 0]);
fwrite($client, get(3, '/other') . frame(8, 0, 3, pack('N', 100)));
do [$type, , $stream, $payload] = next_frame($client); while (!($type === 0 && $stream === 3 && $payload !== ''));
echo "$payload\n";
fclose($client);
$worker->stop();

echo "-- a connection that has no other streams\n";
$server = S\serve($handler, ['write_timeout' => 0.3, 'write_window' => 65536, 'keep_alive' => 0.3]);
$client = closed($server);
fwrite($client, get(1, '/write'));
T\until(fn() => [$server->stats()['requests'], $server->stats()['connections']] === [1, 0]);
echo "is closed\n";
$server->stop();
?>
--EXPECT--
Hello, reset; /write: ClientDisconnected
Hello, reset; /flush: ClientDisconnected
Hello, reset; /iterable: ended
-- worker mode
Hello
-- a connection that has no other streams
is closed
