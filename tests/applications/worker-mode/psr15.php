<?php

/**
 * The application on Slim of slim.php as a request handler of PSR-15, built once by an instance, which packages/psr15 serves. What this returns
 * makes the handler of an instance, with the PSR-7 of a library.
 */

namespace App;

use Psr\Http\Message\{ResponseInterface, ServerRequestInterface};
use Psr\Http\Server\RequestHandlerInterface;
use Slim\Http\{Headers, Response};
use Spindle\Psr15\Handler;

require_once __DIR__ . '/slim.php';
require_once 'Psr/Http/Message/factory-autoload.php';
require_once __DIR__ . '/request-handler.php';
require_once dirname(__DIR__, 3) . '/packages/psr15/src/Handler.php';

/** Calls Slim 3, which is older than PSR-15, as its own run() does. */
final class SlimHandler implements RequestHandlerInterface
{
    public function __construct(private readonly \Slim\App $app) {}

    public function handle(ServerRequestInterface $request): ResponseInterface
    {
        if (str_starts_with($request->getHeaderLine('Content-Type'), 'application/json')) {
            $request = $request->withParsedBody(json_decode((string) $request->getBody(), true));
        }
        ob_start();
        try {
            $response = $this->app->process($request, new Response(200, new Headers(['Content-Type' => 'text/html; charset=UTF-8'])));
        } finally {
            $printed = ob_get_clean();
        }
        if ($printed !== '') {
            $response->getBody()->write($printed);
        }
        return $response->getStatusCode() === 204 ? $response->withoutHeader('Content-Type') : $response;
    }
}

return static function (string $library): callable {
    // The handler finds what can be loaded.
    require_once ['nyholm' => 'Nyholm/Psr7/autoload.php', 'guzzle' => 'GuzzleHttp/Psr7/autoload.php', 'slim' => 'Slim/Psr7/autoload.php'][$library];
    return static fn () => new Handler(new SlimHandler(slim()));
};
