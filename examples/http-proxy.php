<?php

/**
 * A proxy: requests are passed on to another server, and its answers back, piece by piece and in both directions at once. Who is
 * slow makes the other side wait, not the proxy's memory grow.
 *
 *     php -d extension=build/spindle.so examples/http-proxy.php http://127.0.0.1:9000 [127.0.0.1:8080]
 *
 * It needs ext/curl: the callbacks of cURL wait like any other code.
 */

declare(strict_types=1);

use Async\{Channel, ChannelException};
use Async\Http\{Request, Response, Server, Writer};
use function Async\{awaitAny, signal, spawn};

/** Headers about one connection, which are not passed on. */
const OF_A_CONNECTION = ['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'te', 'trailer', 'transfer-encoding',
    'upgrade', 'expect', 'host'];

$upstream = rtrim($argv[1] ?? exit("usage: http-proxy.php UPSTREAM [ADDRESS]\n"), '/');
$server = new Server(['max_body_size' => 10 << 30]);
$server->listen($argv[2] ?? '127.0.0.1:8080');
$server->handle(fn(Request $request): Response => pass($request, $upstream));

function pass(Request $request, string $upstream): Response
{
    $answer = new Channel(4);
    // It ends with the request: it is cancelled when the client has left.
    spawn(function () use ($request, $upstream, $answer): void {
        try {
            transfer($request, $upstream, $answer);
            $answer->close();
        } catch (RuntimeException $e) {
            $answer->close($e);
        }
    });
    try {
        [$status, $headers] = $answer->recv();
    } catch (ChannelException $e) {
        return new Response("The server behind this one does not answer: {$e->getPrevious()?->getMessage()}\n", 502, ['Content-Type' => 'text/plain']);
    }
    return new Response(function (Writer $writer) use ($answer): void {
        foreach ($answer as $piece) {
            $writer->write($piece);
            $writer->flush();
        }
    }, $status, $headers);
}

/** Sends status and headers of the answer, and then the pieces of its body, to the channel. */
function transfer(Request $request, string $upstream, Channel $answer): void
{
    $sent = ["Host: {$request->host()}", "X-Forwarded-For: {$request->clientAddress()}", 'Expect:'];
    foreach ($request->headers() as $name => $values) {
        foreach (in_array($name, OF_A_CONNECTION) ? [] : $values as $value) {
            $sent[] = "$name: $value";
        }
    }
    [$status, $headers] = [0, []];
    $curl = curl_init($upstream . $request->target());
    curl_setopt_array($curl, [
        CURLOPT_CUSTOMREQUEST => $request->method(),
        CURLOPT_HTTPHEADER => $sent,
        CURLOPT_HEADERFUNCTION => function ($curl, string $line) use (&$status, &$headers, $answer): int {
            if (preg_match('~^HTTP/\S+ (\d+)~', $line, $found)) {
                [$status, $headers] = [(int) $found[1], []];
            } elseif (trim($line) !== '') {
                [$name, $value] = explode(':', $line, 2);
                in_array(strtolower($name), OF_A_CONNECTION) || $headers[$name][] = trim($value);
            } elseif ($status >= 200) { // otherwise the answer follows
                $answer->send([$status, $headers]);
            }
            return strlen($line);
        },
        CURLOPT_WRITEFUNCTION => function ($curl, string $piece) use ($answer): int {
            $answer->send($piece);
            return strlen($piece);
        },
    ]);
    if ($request->method() === 'HEAD') {
        curl_setopt($curl, CURLOPT_NOBODY, true);
    } elseif ($request->header('Content-Length') !== null || $request->header('Transfer-Encoding') !== null) {
        curl_setopt_array($curl, [
            CURLOPT_UPLOAD => true,
            CURLOPT_INFILESIZE => (int) $request->header('Content-Length', '-1'),
            CURLOPT_READFUNCTION => fn($curl, $file, int $length): string => $request->read($length) ?? '',
        ]);
    }
    curl_exec($curl) || throw new RuntimeException(curl_error($curl));
}

spawn(function () use ($server): void {
    awaitAny([signal(SIGINT), signal(SIGTERM)]);
    $server->stop(10);
});

echo "http://{$server->address()}/\n";
$server->run();
