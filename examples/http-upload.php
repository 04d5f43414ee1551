<?php

/**
 * Uploads, and how far they are: a page sends a file, and is told by a stream of events what has arrived.
 *
 *     php -d extension=build/spindle.so examples/http-upload.php [127.0.0.1:8080]
 *
 * The body of a request is read piece by piece, so a file of any size takes no memory to speak of. Here it is not kept: the page
 * gets its SHA-256.
 */

declare(strict_types=1);

use Async\Channel;
use Async\Http\{Request, Response, Server};
use function Async\{awaitAny, signal, spawn};

/** Who wants to know of an upload, by the name that the page has chosen for it. */
$listeners = [];

$server = new Server(['max_body_size' => 10 << 30]);
$server->listen($argv[1] ?? '127.0.0.1:8080');

$server->handle(function (Request $request) use (&$listeners): Response {
    $name = $request->query('name', '');
    return match ($request->method() . ' ' . $request->path()) {
        'GET /' => new Response(PAGE),
        'GET /progress' => Response::events((function () use ($name, &$listeners) {
            $listeners[$name] = $news = new Channel(1);
            try {
                yield ['event' => 'ready', 'data' => $name];
                foreach ($news as $event) {
                    yield $event;
                }
            } finally {
                unset($listeners[$name]); // the page was closed, or has heard the end
            }
        })()),
        'POST /upload' => receive($request, $listeners[$name] ?? null),
        default => new Response('', 404),
    };
});

/** Nobody has to listen: news that was not taken yet is left out, but not the end. */
function receive(Request $request, ?Channel $news): Response
{
    $hash = hash_init('sha256');
    [$got, $of] = [0, (int) $request->header('Content-Length', '0')];
    while (($piece = $request->read()) !== null) {
        hash_update($hash, $piece);
        $got += strlen($piece);
        $news?->trySend(['event' => 'progress', 'data' => json_encode(['got' => $got, 'of' => $of])]);
    }
    $sum = ['bytes' => $got, 'sha256' => hash_final($hash)];
    $news?->send(['event' => 'end', 'data' => json_encode($sum)]);
    $news?->close();
    return Response::json($sum);
}

spawn(function () use ($server): void {
    awaitAny([signal(SIGINT), signal(SIGTERM)]);
    $server->stop(2);
});

const PAGE = <<<'HTML'
    <!doctype html><meta charset="utf-8"><title>Upload</title>
    <input type="file"> <progress value="0"></progress>
    <p></p>
    <script>
        function upload(file) {
            const name = crypto.getRandomValues(new Uint32Array(4)).join('-');
            const news = new EventSource(`/progress?name=${name}`);
            const bar = document.querySelector('progress');
            news.addEventListener('ready', () => fetch(`/upload?name=${name}`, {method: 'POST', body: file}));
            news.addEventListener('progress', event => {
                const {got, of} = JSON.parse(event.data);
                bar.value = got / of;
            });
            news.addEventListener('end', event => {
                news.close();
                bar.value = 1;
                document.querySelector('p').textContent = event.data;
            });
        }
        document.querySelector('input').onchange = event => upload(event.target.files[0]);
        // Without anybody to choose a file: so many bytes of one kind.
        const bytes = new URLSearchParams(location.search).get('bytes');
        bytes && upload(new Blob(['x'.repeat(bytes)]));
    </script>
    HTML;

echo "http://{$server->address()}/\n";
$server->run();
