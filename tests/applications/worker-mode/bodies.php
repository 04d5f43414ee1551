<?php

/** Serves responses that packages/psr15 sends, by one instance. Prints the address. */

use Async\Http\Server;
use Nyholm\Psr7\{Response, Stream};
use Psr\Http\Message\{ResponseInterface, ServerRequestInterface, StreamInterface};
use Psr\Http\Server\RequestHandlerInterface;
use Spindle\Psr15\Handler;
use function Async\{await, signal, spawn};

require_once 'Nyholm/Psr7/autoload.php';
require_once 'Psr/Http/Message/factory-autoload.php';
require_once 'GuzzleHttp/Psr7/autoload.php';
require_once __DIR__ . '/request-handler.php';
require_once dirname(__DIR__, 3) . '/packages/psr15/src/Handler.php';

/** How many requests this instance has had. */
final class Requests
{
    public static int $count = 0;
    public static string $left = '';
}

final class Bodies implements RequestHandlerInterface
{
    public function handle(ServerRequestInterface $request): ResponseInterface
    {
        Requests::$count++;
        return match ($request->getUri()->getPath()) {
            '/headers' => (new Response(299, ['X-A' => ['1', '2'], 'Set-Cookie' => ['a=1', 'b=2']], 'body', '1.1', 'Fine'))->withAddedHeader('x-b', '3'),
            '/moved' => new Response(201, ['Location' => '/there']),
            '/plain' => new Response(200, [], 'no type'),
            '/empty' => new Response(204, ['Content-Type' => 'text/plain'], 'not sent'),
            '/large' => new Response(200, ['Content-Length' => '1000000'], str_repeat('0123456789', 100_000)),
            '/pipe' => new Response(200, [], Stream::create(popen('echo one; read line < ' . escapeshellarg($_GET['wait']) . '; echo two', 'r'))),
            '/endless' => new Response(200, [], new GuzzleHttp\Psr7\PumpStream(static function (): string {
                usleep(1000);
                Requests::$left = connection_aborted() ? 'the client has left' : 'it is there';
                return str_repeat('x', 8192);
            })),
            '/late' => new Response(200, [], Stream::create(self::late())),
            '/count' => new Response(200, [], Requests::$count . ' ' . Requests::$left),
            '/request' => new Response(200, ['Content-Type' => 'application/json'], json_encode(self::described($request))),
        };
    }

    /** A stream that says nothing in time. */
    private static function late(): mixed
    {
        [$one, $other] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        fwrite($other, 'begin');
        stream_set_timeout($one, 0, 50_000);
        static $kept = [];
        $kept[] = $other;
        return $one;
    }

    private static function described(ServerRequestInterface $request): array
    {
        $describe = static function (mixed $of) use (&$describe): mixed {
            return is_array($of) ? array_map($describe, $of)
                : [$of->getClientFilename(), $of->getClientMediaType(), $of->getSize(), $of->getError(), $of->getError() === UPLOAD_ERR_OK ? (string) $of->getStream() : null];
        };
        return [$request->getMethod(), (string) $request->getUri(), $request->getProtocolVersion(), $request->getHeader('X-Test'), $request->getQueryParams(), $request->getCookieParams(),
            $request->getParsedBody(), (string) $request->getBody(), $describe($request->getUploadedFiles())];
    }
}

$server = (new Server())->listen('127.0.0.1:0')->application(static fn () => new Handler(new Bodies()), 1);
spawn(static function () use ($server): void {
    await(signal(SIGTERM));
    $server->stop(10);
});
echo $server->address(), "\n";
$server->run();
