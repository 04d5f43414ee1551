<?php
/**
 * HTTP servers of others in PHP: `php peers.php amphp|react`. Prints its port and its process id, then serves until it is killed.
 * The libraries are in the folder that SPINDLE_SOURCES names; what they need of PSR is in Debian's packages.
 */
require dirname(__DIR__, 2) . '/tests/loops/autoload.php';

spl_autoload_register(static function (string $class): void {
    $file = '/usr/share/php/' . strtr($class, ['Fig\\Http\\Message\\' => 'Fig/HttpMessageUtil/', '\\' => '/']) . '.php';
    preg_match('/^(Psr|Fig)\\\\/', $class) && is_file($file) && require $file;
});

function amphp(): void
{
    Loops\load('amphp/http-server');
    // That of Debian is the first version, and League's URIs implement the second.
    eval('namespace Psr\Http\Message; interface UriInterface {
        public function getScheme(): string; public function getAuthority(): string; public function getUserInfo(): string;
        public function getHost(): string; public function getPort(): ?int; public function getPath(): string;
        public function getQuery(): string; public function getFragment(): string; public function __toString(): string;
        public function withScheme(string $scheme): UriInterface; public function withHost(string $host): UriInterface;
        public function withUserInfo(string $user, ?string $password = null): UriInterface; public function withPort(?int $port): UriInterface;
        public function withPath(string $path): UriInterface; public function withQuery(string $query): UriInterface;
        public function withFragment(string $fragment): UriInterface; }');
    $factory = new Amp\Http\Server\Driver\SocketClientFactory(new Psr\Log\NullLogger());
    $sockets = new Amp\Socket\ResourceServerSocketFactory();
    $server = new Amp\Http\Server\SocketHttpServer(new Psr\Log\NullLogger(), $sockets, $factory);
    $server->expose('127.0.0.1:' . ($port = freePort()));
    $handler = new Amp\Http\Server\RequestHandler\ClosureRequestHandler(
        static fn (): Amp\Http\Server\Response => new Amp\Http\Server\Response(200, ['Content-Type' => 'text/plain', 'Content-Length' => '5'], 'Hello'));
    $server->start($handler, new Amp\Http\Server\DefaultErrorHandler());
    echo $port, ' ', getmypid(), "\n";
    Revolt\EventLoop::run();
}

function react(): void
{
    Loops\load('react/http');
    $handler = static fn () => new React\Http\Message\Response(200, ['Content-Type' => 'text/plain'], 'Hello');
    $server = new React\Http\HttpServer(new React\Http\Middleware\StreamingRequestMiddleware(), $handler);
    $socket = new React\Socket\SocketServer('127.0.0.1:0');
    $server->on('error', static fn (Throwable $error) => fwrite(STDERR, "$error\n"));
    $server->listen($socket);
    echo parse_url($socket->getAddress(), PHP_URL_PORT), ' ', getmypid(), "\n";
    React\EventLoop\Loop::run();
}

function freePort(): int
{
    $probe = stream_socket_server('tcp://127.0.0.1:0');
    return (int) substr(strrchr(stream_socket_get_name($probe, false), ':'), 1);
}

$argv[1] === 'amphp' ? amphp() : react();
