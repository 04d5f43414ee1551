<?php

declare(strict_types=1);

namespace Spindle\Psr15;

use Psr\Http\Message\ResponseInterface;
use Psr\Http\Message\ServerRequestFactoryInterface;
use Psr\Http\Message\ServerRequestInterface;
use Psr\Http\Message\StreamFactoryInterface;
use Psr\Http\Message\StreamInterface;
use Psr\Http\Message\UploadedFileFactoryInterface;
use Psr\Http\Message\UploadedFileInterface;
use Psr\Http\Message\UriFactoryInterface;
use Psr\Http\Message\UriInterface;
use Psr\Http\Server\RequestHandlerInterface;

/**
 * Handles the request whose superglobals these are, by a request handler of PSR-15, and sends its response.
 *
 * It has no state of a request, and is what the boot of an instance returns.
 */
final class Handler
{
    /** What makes messages of PSR-7: a class for all of them, or a namespace with one for each. */
    private const FACTORIES = ['Nyholm\Psr7\Factory\Psr17Factory', 'GuzzleHttp\Psr7\HttpFactory', 'Laminas\Diactoros\\', 'Slim\Psr7\Factory\\'];

    private const PIECE = 65536;

    private readonly ServerRequestFactoryInterface $requests;

    private readonly UriFactoryInterface $uris;

    private readonly StreamFactoryInterface $streams;

    private readonly UploadedFileFactoryInterface $files;

    /** Factories that are not given are those of a PSR-7 library that is installed; one that is given may be of several kinds. */
    public function __construct(
        private readonly RequestHandlerInterface $handler,
        ?ServerRequestFactoryInterface $requests = null,
        ?UriFactoryInterface $uris = null,
        ?StreamFactoryInterface $streams = null,
        ?UploadedFileFactoryInterface $files = null,
    ) {
        $given = \array_filter([$requests, $uris, $streams, $files]);
        $this->requests = $requests ?? self::factory('ServerRequestFactory', $given);
        $this->uris = $uris ?? self::factory('UriFactory', $given);
        $this->streams = $streams ?? self::factory('StreamFactory', $given);
        $this->files = $files ?? self::factory('UploadedFileFactory', $given);
    }

    public function __invoke(): void
    {
        $buffers = \ob_get_level();
        try {
            $request = $this->request();
        } catch (\InvalidArgumentException) {
            \http_response_code(400); // a URI or a header that the library refuses
            return;
        }
        $this->send($this->handler->handle($request), $request->getMethod(), $buffers);
    }

    /** @param list<object> $given */
    private static function factory(string $kind, array $given): object
    {
        $interface = "Psr\\Http\\Message\\{$kind}Interface";
        foreach ($given as $factory) {
            if ($factory instanceof $interface) {
                return $factory;
            }
        }
        foreach (self::FACTORIES as $class) {
            $class .= \str_ends_with($class, '\\') ? $kind : '';
            if (\class_exists($class)) {
                return new $class();
            }
        }
        throw new \LogicException("No $interface was given, and no library that has one is installed: composer require nyholm/psr7");
    }

    private function request(): ServerRequestInterface
    {
        $request = $this->requests->createServerRequest($_SERVER['REQUEST_METHOD'] ?? 'GET', $this->uri(), $_SERVER)
            ->withProtocolVersion(\substr($_SERVER['SERVER_PROTOCOL'] ?? 'HTTP/1.1', 5));
        foreach ($this->headers() as $name => $value) {
            $request = $request->withHeader((string) $name, $value);
        }
        $request = $request->withCookieParams($_COOKIE)->withQueryParams($_GET)->withUploadedFiles($this->uploaded($_FILES))
            ->withBody($this->streams->createStreamFromResource(\fopen('php://input', 'r')));
        $type = \strtolower(\trim(\strtok($_SERVER['CONTENT_TYPE'] ?? '', ';') ?: ''));
        $isForm = $request->getMethod() === 'POST' && \in_array($type, ['application/x-www-form-urlencoded', 'multipart/form-data'], true);
        return $isForm ? $request->withParsedBody($_POST) : $request;
    }

    private function uri(): UriInterface
    {
        $target = $_SERVER['REQUEST_URI'] ?? '/';
        // Of a proxy's client, it may have the host in it; then Host says the same.
        $target = \preg_replace('~^https?://[^/?]*~i', '', $target);
        [$path, $query] = \explode('?', $target, 2) + [1 => ''];
        $isSecure = !\in_array(\strtolower($_SERVER['HTTPS'] ?? ''), ['', 'off'], true);
        $uri = $this->uris->createUri()->withScheme($isSecure ? 'https' : 'http');
        if (\preg_match('/^(\[[0-9a-f:.]+\]|[^:]+)(?::(\d+))?$/i', $_SERVER['HTTP_HOST'] ?? '', $host)) {
            $uri = $uri->withHost($host[1])->withPort(isset($host[2]) ? (int) $host[2] : null);
        } elseif (isset($_SERVER['SERVER_NAME'])) {
            $uri = $uri->withHost($_SERVER['SERVER_NAME'])->withPort((int) ($_SERVER['SERVER_PORT'] ?? 0) ?: null);
        }
        return $uri->withPath($path === '' ? '/' : $path)->withQuery($query);
    }

    /** @return array<array-key, string> */
    private function headers(): array
    {
        if (\function_exists('getallheaders')) {
            return \getallheaders();
        }
        $headers = [];
        foreach ($_SERVER as $name => $value) {
            if (\str_starts_with((string) $name, 'HTTP_')) {
                $headers[\strtr(\substr($name, 5), '_', '-')] = $value;
            } elseif (($name === 'CONTENT_TYPE' || $name === 'CONTENT_LENGTH') && $value !== '') {
                $headers[\strtr($name, '_', '-')] = $value;
            }
        }
        return $headers;
    }

    /**
     * @param array<array-key, array<string, mixed>> $given as $_FILES
     * @return array<array-key, UploadedFileInterface|array<mixed>>
     */
    private function uploaded(array $given): array
    {
        return \array_map(fn (array $of) => $this->file($of['tmp_name'], $of['size'], $of['error'], $of['name'], $of['type']), $given);
    }

    /** Of names such as one[two][] each of these is an array. */
    private function file(mixed $path, mixed $size, mixed $error, mixed $name, mixed $type): UploadedFileInterface|array
    {
        if (\is_array($path)) {
            $files = [];
            foreach ($path as $key => $one) {
                $files[$key] = $this->file($one, $size[$key], $error[$key], $name[$key], $type[$key]);
            }
            return $files;
        }
        $stream = $error === \UPLOAD_ERR_OK ? $this->streams->createStreamFromFile($path) : $this->streams->createStream();
        return $this->files->createUploadedFile($stream, $size, $error, $name, $type);
    }

    private function send(ResponseInterface $response, string $method, int $buffers): void
    {
        while (\ob_get_level() > $buffers) {
            \ob_end_flush(); // the handler has left it
        }
        if (!$response->hasHeader('Content-Type')) {
            \ini_set('default_mimetype', '');
        }
        foreach ($response->getHeaders() as $name => $values) {
            // A cookie replaces no other, as that of the session.
            $replaces = \strcasecmp((string) $name, 'Set-Cookie') !== 0;
            foreach ($values as $value) {
                \header("$name: $value", $replaces);
                $replaces = false;
            }
        }
        // After the headers, of which Location changes it.
        $status = $response->getStatusCode();
        \header("HTTP/1.1 $status {$response->getReasonPhrase()}", true, $status);
        $body = $response->getBody();
        if ($method !== 'HEAD' && !\in_array($status, [204, 205, 304], true)) {
            $this->print($body);
        }
        $body->close();
    }

    /** A client that leaves does not end the script, and with it the instance; the rest of the body is not read then. */
    private function print(StreamInterface $body): void
    {
        if ($body->isSeekable()) {
            $body->rewind();
        }
        $size = $body->getSize() ?: null; // that of a pipe is said to be 0
        if ($size !== null && $size <= self::PIECE) {
            echo $body->getContents();
            return;
        }
        $ignored = \ignore_user_abort(true);
        while (!$body->eof() && !\connection_aborted()) {
            // Without a size it may come little by little.
            $piece = $body->read($size === null ? 8192 : self::PIECE);
            if ($piece === '') {
                if ($body->eof()) {
                    break;
                }
                if (($body->getMetadata()['timed_out'] ?? false) === true) {
                    throw new \RuntimeException('The body of the response has not come in time');
                }
                \usleep(1000); // it does not block
                continue;
            }
            echo $piece;
            if (\ob_get_level() > 0) {
                \ob_flush();
            }
            \flush();
        }
        \ignore_user_abort((bool) $ignored);
    }
}
