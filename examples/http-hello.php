<?php

/**
 * An HTTP server: pages, JSON, a slow page that keeps nobody waiting, and a stream of events.
 *
 *     php -d extension=build/spindle.so examples/http-hello.php [127.0.0.1:8080]
 *
 * Then open http://127.0.0.1:8080/ or run `curl http://127.0.0.1:8080/json`. Ctrl+C stops it when all requests are answered.
 */

declare(strict_types=1);

use Async\Http\{Request, Response, Server, Writer};
use function Async\{awaitAny, delay, signal, spawn};

$server = new Server(['request_timeout' => 30]);
$server->listen($argv[1] ?? '127.0.0.1:8080');

$server->handle(function (Request $request) use ($server): Response {
    return match ($request->path()) {
        '/' => new Response(<<<'HTML'
            <!doctype html><title>Spindle</title>
            <p>Hello! See <a href="/json">/json</a>, <a href="/slow">/slow</a> and <a href="/ticks">/ticks</a>.
            HTML),
        '/json' => Response::json(['you' => $request->clientAddress(), 'agent' => $request->header('User-Agent'), ...$server->stats()]),
        '/slow' => slow(),
        '/ticks' => new Response(function (Writer $writer): void {
            for ($tick = 1; $tick <= 10; $tick++) {
                $writer->write("data: tick $tick\n\n");
                delay(500);
            }
        }, 200, ['Content-Type' => 'text/event-stream', 'Cache-Control' => 'no-store']),
        default => new Response("There is no {$request->path()} here.\n", 404, ['Content-Type' => 'text/plain']),
    };
});

/** Blocks, as a query or a request to another service does: others are served meanwhile. */
function slow(): Response
{
    sleep(2);
    return new Response("That took two seconds.\n", 200, ['Content-Type' => 'text/plain']);
}

spawn(function () use ($server): void {
    awaitAny([signal(SIGINT), signal(SIGTERM)]);
    $server->stop(10);
});

echo "http://{$server->address()}/\n";
$server->run();
