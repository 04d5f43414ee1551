<?php

/**
 * An application on Slim 3, made anew for each request: its container, its routes and its middleware belong to one. Its requests may be of any
 * PSR-7 (psr15.php).
 */

namespace App;

use Psr\Http\Message\ServerRequestInterface as Request;
use Slim\Http\Response;

require_once 'Slim/autoload.php';

/** Lets another request run, as a query of a database does. */
function pause(): void
{
    usleep((int) (getenv('WORKER_MODE_PAUSE') ?: random_int(0, 2000)));
}

/** What is asked for, or this. */
function n(Request $request, ?string $else = null): ?string
{
    return $request->getQueryParams()['n'] ?? $else;
}

function slim(): \Slim\App
{
    // Slim's own page has a link that its own URI shows with another end.
    $nothing = static fn () => static fn (Request $request, Response $response) => $response->withStatus(404)->write('nothing at ' . ltrim($request->getUri()->getPath(), '/'));
    $app = new \Slim\App(['settings' => ['displayErrorDetails' => false, 'determineRouteBeforeAppMiddleware' => true], 'notFoundHandler' => $nothing]);
    $app->add(function (Request $request, Response $response, callable $next) {
        pause();
        $response = $next($request->withAttribute('asked', n($request)), $response);
        pause();
        return $response->withHeader('X-Asked', n($request, '-'));
    });
    $app->get('/hello/{name}', function (Request $request, Response $response, array $of) {
        pause();
        return $response->write("Hello, $of[name], {$request->getAttribute('asked')}, {$request->getHeaderLine('X-N')}")->withHeader('X-Name', $of['name']);
    })->setName('hello');
    $app->get('/', function (Request $request, Response $response) {
        return $response->write($this->get('router')->pathFor('hello', ['name' => n($request)]));
    });
    $app->any('/count', function (Request $request, Response $response) {
        session_start();
        $_SESSION['count'] = ($_SESSION['count'] ?? 0) + 1;
        pause();
        $_SESSION['n'] = n($request);
        return $response->withJson($_SESSION);
    });
    $app->post('/json', fn (Request $request, Response $response) => $response->withJson(['given' => $request->getParsedBody()], 201));
    $app->post('/form', function (Request $request, Response $response) {
        pause();
        return $response->withRedirect('/?' . http_build_query((array) $request->getParsedBody()), 303);
    });
    $app->post('/upload', function (Request $request, Response $response) {
        pause();
        $found = [];
        array_walk_recursive($_FILES, function ($value, $key) use (&$found) { $key === 'tmp_name' || $found[] = $value; });
        foreach ($request->getUploadedFiles() as $name => $file) {
            foreach (is_array($file) ? $file : [$file] as $one) {
                $one->moveTo($path = tempnam(WORK, 'upload'));
                $found[] = [$name, $one->getClientFilename(), $one->getSize(), md5_file($path)];
                unlink($path);
            }
        }
        return $response->withJson([$found, $request->getParsedBody()]);
    });
    $app->get('/cookies', function (Request $request, Response $response) {
        setcookie('native', n($request));
        pause();
        return $response->withJson($request->getCookieParams())->withAddedHeader('Set-Cookie', 'a=1')->withAddedHeader('Set-Cookie', 'b=2');
    });
    $app->get('/fails', function (Request $request) {
        pause();
        throw new \LogicException('fails for ' . n($request));
    });
    $app->get('/left/{name}', function (Request $request, Response $response, array $of) {
        header('X-Left: yes');
        http_response_code(202);
        echo "left by $of[name]";
        pause();
        exit;
    });
    $app->get('/printed', function (Request $request, Response $response) {
        echo 'printed, ';
        pause();
        return $response->write('written');
    });
    $app->get('/stream', function (Request $request, Response $response) {
        return $response->withBody(new \Slim\Http\Stream(fopen(WORK . '/file.bin', 'r')))->withHeader('Content-Type', 'application/octet-stream');
    });
    $app->map(['PUT', 'DELETE'], '/item/{id:\d+}', fn (Request $request, Response $response, array $of) => $response->write("{$request->getMethod()} $of[id]"));
    return $app;
}

return static fn () => slim()->run();
