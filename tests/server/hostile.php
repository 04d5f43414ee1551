<?php
/*
 * The server that tests/server/hostile-client.php talks to: it answers with what it was asked. Prints its address.
 *
 *   hostile.php MODE     objects, or worker
 */

use Async\Http\{Request, Response, Server, ServerException};
use function Async\{await, signal, spawn};

require __DIR__ . '/hostile.inc';

$server = (new Server(['header_timeout' => 5, 'body_timeout' => 5, 'min_body_rate' => 0, 'keep_alive' => 5, 'max_body_size' => 1 << 20]))->listen('127.0.0.1:0');
/** Requests that no client has meant, and those in which there is something of another connection. */
$wrong = [];
$handled = 0;

/** @param array<string, string> $headers those whose names begin with x- */
function answer(string $method, string $target, array $headers, ?string $body): string
{
    global $wrong, $handled, $server;
    if ($target === '/stats') {
        gc_collect_cycles();
        return json_encode($server->stats() + ['handled' => $handled, 'wrong' => $wrong, 'coroutines' => count(Async\getCoroutines()),
            'descriptors' => count(scandir('/proc/self/fd'))]);
    }
    $handled++;
    ksort($headers);
    $all = "$method $target " . json_encode($headers, JSON_INVALID_UTF8_SUBSTITUTE) . $body;
    $ids = Hostile\ids($all);
    if ((count($ids) > 1 || str_contains($target, 'poison')) && count($wrong) < 10) {
        $wrong[] = substr(json_encode($all, JSON_INVALID_UTF8_SUBSTITUTE), 0, 2000);
    }
    return json_encode(['method' => $method, 'target' => $target, 'headers' => array_map(bin2hex(...), $headers), 'body' => $body === null ? null : sha1($body), 'ids' => $ids], JSON_INVALID_UTF8_SUBSTITUTE);
}

if ($argv[1] === 'worker') {
    $server->worker(function (): void {
        $headers = [];
        foreach ($_SERVER as $name => $value) {
            if (str_starts_with($name, 'HTTP_X_')) $headers[strtolower(strtr(substr($name, 5), '_', '-'))] = $value;
        }
        $body = str_ends_with($_SERVER['REQUEST_URI'], '/unread') ? null : file_get_contents('php://input');
        header('Content-Type: application/json');
        echo answer($_SERVER['REQUEST_METHOD'], $_SERVER['REQUEST_URI'], $headers, $body);
    });
} else {
    $server->handle(function (Request $r): Response {
        $headers = [];
        foreach ($r->headers() as $name => $value) {
            if (str_starts_with($name, 'x-')) $headers[$name] = implode(', ', $value);
        }
        $body = '';
        if (str_ends_with($r->target(), '/unread')) {
            $body = null;
        } elseif (str_ends_with($r->target(), '/pieces')) {
            while (($piece = $r->read(100)) !== null) {
                $body .= $piece;
            }
        } else {
            $body = $r->body();
        }
        return new Response(answer($r->method(), $r->target(), $headers, $body), 200, ['Content-Type' => 'application/json']);
    });
}
spawn(function () use ($server) {
    await(signal(SIGTERM));
    $server->stop(1);
});
echo $server->address(), ' ', getmypid(), "\n";
$server->run();
