<?php
/*
 * The server that tests/server/strain talks to. Prints its address.
 */

use Async\Http\{ClientDisconnected, Request, Response, Server, Writer};
use function Async\{await, delay, signal, spawn};

$waited = [];
$begun = $ended = 0;
$options = json_decode($argv[1] ?? '{}', true);
$server = (new Server($options))->listen('127.0.0.1:0');
$server->handle(function (Request $r) use ($server, &$waited, &$begun, &$ended) {
    switch ($r->path()) {
        case '/hello': return 'Hello';
        case '/work': usleep(100_000); return 'worked';
        case '/wait':
            $begun++;
            try {
                sleep(1000);
            } catch (ClientDisconnected $left) {
                $waited[] = hrtime(true);
                throw $left;
            } finally {
                $ended++;
            }
        case '/waited':
            [$all, $waited] = [$waited, []];
            return Response::json($all);
        case '/upload':
            for ($n = 0; ($piece = $r->read()) !== null; $n += strlen($piece)) if ($n === 0) $begun++;
            return "$n";
        case '/body': return (string) strlen($r->body());
        case '/large': return str_repeat('x', 1 << 20);
        case '/headers': return new Response('', 200, ['X-Target' => str_repeat($r->target(), 100)]);
        case '/echo':
            foreach ($socket = $r->upgrade() as $message) $socket->send($message);
            return null;
        case '/download': return new Response(function (Writer $w) {
            $piece = str_repeat('x', 1 << 16);
            for ($i = 0; $i < 1 << 15; $i++) $w->write($piece);
        });
        case '/stats': return Response::json($server->stats() + ['begun' => $begun, 'ended' => $ended, 'coroutines' => count(Async\getCoroutines()),
            'descriptors' => count(scandir('/proc/self/fd'))]);
    }
    return new Response('not found', 404);
});
spawn(function () use ($server) {
    await(signal(SIGTERM));
    $server->stop(1);
});
echo $server->address(), ' ', getmypid(), "\n";
$server->run();
