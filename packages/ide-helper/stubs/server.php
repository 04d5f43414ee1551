<?php

// Made by scripts/gen-api from stubs/server.stub.php. Not to be loaded: the extension has these.

/** An HTTP server in the event loop: see docs/server.md. */
namespace Async\Http {
    /**
     * A server in this process, for HTTP/1.1 and HTTP/2 (over TLS, or with prior knowledge).
     *
     * $handler is called for each request, in a coroutine and a scope of its own, and may block in whatever it likes: other
     * requests are handled meanwhile. When the client leaves, or the response has not begun in time, the scope is cancelled.
     */
    final class Server
    {
        /**
         * $options: limits and times, see docs/server.md.
         *
         * @param array<string, bool|int|float|string|list<string>> $options
         * @throws \ValueError if there is no such option, or it has another type
         */
        public function __construct(array $options = []) {}

        /**
         * Listens at an address: 'host:port' (0: the system chooses a port), 'unix:/path', or 'fd:3', a socket that the process
         * was started with. Its clients use TLS if there are certificates. May be called several times.
         *
         * @param bool $proxyProtocol clients are proxies of the option trusted_proxies, whose connections begin with a header of the
         *                            PROXY protocol; other connections are closed
         * @param bool $reusePort other processes of the same user may listen on the port, too, in the same way (SO_REUSEPORT): the
         *                        kernel distributes the connections
         * @throws ServerException if the system refuses it
         * @throws \ValueError if it is no address, none with a port that could be shared, or no proxies are trusted that it is for
         */
        public function listen(string $address, ?Tls $tls = null, bool $proxyProtocol = false, bool $reusePort = false): Server {}

        /**
         * Sends files: GET and HEAD for a URL that begins with $prefix are answered with what $directory has there, before any handler
         * is asked; if it has none, the handler is. May be called several times: the directory that was added first is looked at
         * first. Nothing outside of the directory is sent, nor is code of PHP.
         *
         * $options: index ('index.html'; null: none), cache_control (the value of that header), precompressed (true: a file with
         * .br, .zst or .gz at its end is sent in place of the one without to clients that accept it), dot_files (false).
         *
         * @param array{index?: ?string, cache_control?: string, precompressed?: bool, dot_files?: bool} $options
         * @throws ServerException if there is no such directory
         * @throws \ValueError if there is no such option, or it has another type
         */
        public function files(string $prefix, string $directory, array $options = []): Server {}

        /**
         * Has scripts run by a FastCGI server, such as php-fpm: requests for URLs that begin with $prefix are passed on to $address, with
         * the script in $directory that they name. May be called several times: the prefix that was added first is looked at first. Files
         * that files() sends go before, and requests for other URLs are handled as ever.
         *
         * $address: "host:port" or "unix:/path".
         *
         * $options: front_controller (true: what is no file is for index.php), connections (64: how many requests it has at the same
         * time), keep_connections (0: how many connections are kept for further requests), document_root (the directory as the FastCGI
         * server sees it), sendfile (directories whose files scripts may have sent by X-Sendfile, and by X-Accel-Redirect with the path
         * of a URL that is the key; a list of them is tried in order).
         *
         * @param array{front_controller?: bool, connections?: int, keep_connections?: int, document_root?: string, sendfile?: array<string, string|list<string>>} $options
         * @throws ServerException if there is no such directory, or no such host
         * @throws \ValueError if it is no address, or there is no such option, or it has another type
         */
        public function fastcgi(string $prefix, string $address, string $directory, array $options = []): Server {}

        /**
         * Sets what handles requests.
         *
         * @param callable(Request): (Response|\Psr\Http\Message\ResponseInterface|string|iterable<string>|\Closure(Writer): void|resource|null) $handler
         */
        public function handle(callable $handler): Server {}

        /**
         * Sets what handles requests in worker mode: superglobals, header(), echo, php://input, the session and exit are each
         * request's own in $handler and in the coroutines that it spawns. What it returns is ignored. See docs/worker-mode.md.
         *
         * After a fatal error in a request no more connections are accepted. $onFatalError is called then, while other requests
         * are still answered, for at most `fatal_grace` seconds.
         *
         * @param callable(): mixed $handler
         * @param null|callable(): mixed $onFatalError
         */
        public function worker(callable $handler, ?callable $onFatalError = null): Server {}

        /**
         * Sets an application of which there are up to $instances in this process, each with all static and global variables for
         * itself. $boot makes one: what it returns handles the requests of this instance, one at a time, as in worker mode. Other
         * requests wait, in the order of their arrival, as with `max_concurrency`. An instance is booted when a request first needs
         * it; with $eager all are before the first request. See docs/application-mode.md.
         *
         * A boot that throws is reported; its requests are answered with 503, and it is tried again, after 0.1 to 10 seconds. An
         * instance whose request has not returned, but thrown or exited, is booted anew, as one that has served `instance_requests`. Where
         * memory may be damaged no more connections are accepted, and $onFatalError is called, as in worker mode.
         *
         * @param callable(int): callable(): mixed $boot called with the number of the instance, from 0
         * @param int $instances from 1 to 4096
         * @param null|callable(): mixed $onFatalError
         * @throws \ValueError
         */
        public function application(callable $boot, int $instances = 16, bool $eager = false, ?callable $onFatalError = null): Server {}

        /**
         * Logs each request when it has ended: to a stream, as lines in the format of Apache ('combined'), as JSON ('json') or
         * as name=value ('logfmt'); or to what is called with an array for each. A coroutine of its own does that: no request waits for it.
         *
         * @param resource|callable(array{client: string, port: int, method: string, target: string, scheme: string, protocol: string, status: int, bytes: int, duration: float, host: ?string, referer: ?string, agent: ?string, request_id: string, trace_id: ?string, worker: ?int, coroutine: ?int}): void $to
         * @throws \ValueError
         */
        public function accessLog(mixed $to, string $format = 'combined'): Server {}

        /**
         * Serves, in the coroutine that calls it, until the server was stopped and all requests are answered. If that coroutine
         * is cancelled, all connections are closed and all handlers cancelled.
         *
         * @throws ServerException if there is no handler or no address, or the server has run before; in worker mode also when
         *     a request has ended with a fatal error, and the others are answered
         */
        public function run(): void {}

        /**
         * Stops: no more connections are accepted, and those that there are end when their requests are answered. After $grace
         * seconds handlers are cancelled with ServerStopped; null: they are not. Returns at once.
         */
        public function stop(?float $grace = null): void {}

        /**
         * Returns the first address at which it listens, with the port that the system has chosen.
         *
         * @throws ServerException if it listens nowhere
         */
        public function address(): string {}

        /**
         * Returns how it is doing: accepted and open connections; requests that have come, are being handled, have become WebSockets, wait for a
         * handler, were answered with files, and were refused without a handler; handlers that were cancelled; requests that are missing in the access log.
         *
         * @return array{accepted: int, connections: int, requests: int, running: int, websockets: int, queued: int, files: int, refused: int, cancelled: int, handshakes_failed: int, unlogged: int}
         */
        public function stats(): array {}

        /**
         * Returns the requests that have a handler or wait for one, the oldest first, also those whose response is complete while the handler
         * goes on. 'seconds' is the time since the head was received; 'stage' is 'queued', 'running' until the response begins,
         * 'responding', 'websocket', or 'ended' for a handler that goes on; 'coroutine' is the number of the handler's, or 0; 'where' has
         * lines that say what the coroutines of the request wait for, with their stacks, as `dump()` does. Files are not among them.
         *
         * @return list<array{id: string, method: string, target: string, client: string, seconds: float, stage: string, coroutine: int, where: string}>
         */
        public function requests(): array {}
    }

    /**
     * Certificates for Server::listen(), in files in PEM format. A client gets the one that names the host which it asks for;
     * otherwise the first.
     */
    final class Tls
    {
        /**
         * $certificate: the certificate, followed by those of the authorities between it and one that clients know. $key: its key,
         * which may be in the same file. $options: 'min_version' is '1.2' or '1.3'.
         *
         * @param array{min_version?: '1.2'|'1.3'} $options
         * @throws ServerException if a file cannot be read, or is wrong
         * @throws \ValueError if there is no such option, or it has another value
         */
        public function __construct(string $certificate, string $key, array $options = []) {}

        /**
         * Adds a certificate for other hosts, or one with a key of another kind for the same.
         *
         * @throws ServerException if a file cannot be read, or is wrong: nothing has changed then
         */
        public function add(string $certificate, string $key): Tls {}

        /**
         * Reads all files again, for connections that are accepted from now on. Open ones go on.
         *
         * @throws ServerException if a file cannot be read, or is wrong: nothing has changed then
         */
        public function reload(): void {}
    }

    /** A request. Its body is read as it comes: while nothing reads it, the client has to wait. */
    final class Request
    {
        /**
         * Returns its id, by which the lines of logs are found that belong to it: what a trusted proxy has sent as X-Request-Id, or 32
         * hexadecimal digits of the server's own.
         */
        public function id(): string {}

        /** Returns its method, such as 'GET'. */
        public function method(): string {}

        /** Returns its path and query, as they were sent. */
        public function target(): string {}

        /** Returns its path, as it was sent: '%2F' is not decoded. */
        public function path(): string {}

        /** Returns 'http', or 'https' for a client that uses TLS; or what a trusted proxy says. */
        public function scheme(): string {}

        /** Returns the host, and the port if the client names one: the client, or a trusted proxy, chooses it. */
        public function host(): string {}

        /** Returns 'HTTP/1.0', 'HTTP/1.1' or 'HTTP/2'. */
        public function protocol(): string {}

        /** Returns the IP address of the peer, or of the client that trusted proxies name; '' for a Unix socket. */
        public function clientAddress(): string {}

        /** Returns its port; 0 if that is not known. */
        public function clientPort(): int {}

        /** Returns a header, whose name may be in any case. Several of one name are joined by ', '. */
        public function header(string $name, ?string $default = null): ?string {}

        /**
         * Returns all headers, by names in lower case.
         *
         * @return array<string, list<string>>
         */
        public function headers(): array {}

        /** Returns one parameter of the query, or all, as in $_GET. */
        public function query(?string $name = null, mixed $default = null): mixed {}

        /** Returns one cookie, or all. */
        public function cookie(?string $name = null, ?string $default = null): mixed {}

        /**
         * Waits for the whole body, and returns it.
         *
         * @throws PayloadTooLarge
         * @throws BadRequest
         */
        public function body(): string {}

        /**
         * Waits for some of the body, and returns at most $length bytes of it; null at its end.
         *
         * @throws PayloadTooLarge
         * @throws BadRequest
         */
        public function read(int $length = 65536): ?string {}

        /**
         * Returns the decoded body, with arrays for objects. $flags: those of json_decode().
         *
         * @throws PayloadTooLarge
         * @throws BadRequest if it is not JSON; the previous exception is the \JsonException
         */
        public function json(int $flags = 0): mixed {}

        /** Returns one field of a form, or all, as in $_POST. Other bodies have none, and are not read. */
        public function form(?string $name = null, mixed $default = null): mixed {}

        /**
         * Returns the uploaded files by the names of their fields, nested as these are.
         *
         * @return array<string, UploadedFile|array>
         */
        public function files(): array {}

        /**
         * Returns the headers that have followed the body, when that was read to its end.
         *
         * @return array<string, list<string>>
         */
        public function trailers(): array {}

        /** Returns whether it asks for a WebSocket. */
        public function isWebSocket(): bool {}

        /**
         * Makes the connection a WebSocket, which is open until the handler ends. The handler then returns nothing.
         *
         * $protocols: subprotocols, the preferred one first; one that the client offers, too, is chosen. $origins: where pages
         * may come from that use it, such as 'https://example.com', besides the host of the request itself; '*': anywhere.
         *
         * @param list<string> $protocols
         * @param list<string> $origins
         * @throws UpgradeRequired if the request does not ask for a WebSocket
         * @throws BadRequest if it does so in a wrong way
         * @throws Forbidden if it comes from another origin
         * @throws ServerException if it is answered or upgraded already
         */
        public function upgrade(array $protocols = [], array $origins = []): WebSocket {}

        /** Returns a value that was set. */
        public function get(string $key, mixed $default = null): mixed {}

        /** Sets a value, for code that handles the request later. */
        public function set(string $key, mixed $value): Request {}
    }

    /** A response. It may be sent more than once, unless its body can be read only once. */
    final class Response
    {
        /**
         * $body: a string; an iterable of strings, a \Closure(Writer): void or a stream, which are sent piece by piece, as fast
         * as the client takes them.
         *
         * @param string|iterable<string>|\Closure|resource $body
         * @param array<string, string|int|list<string|int>> $headers
         * @throws \ValueError if the status is not from 200 to 599, or a header has a line break or the like
         */
        public function __construct(mixed $body = '', int $status = 200, array $headers = []) {}

        /** Returns the status. */
        public function status(): int {}

        /**
         * Returns the headers, by names in lower case.
         *
         * @return array<string, list<string>>
         */
        public function headers(): array {}

        /**
         * Sets a header, or adds one with $replace: false.
         *
         * @param string|int|list<string|int> $value
         * @throws \ValueError if it has a line break, a zero or another control character
         */
        public function header(string $name, mixed $value, bool $replace = true): Response {}

        /**
         * Adds a cookie. $options: expires (a timestamp), max-age, path, domain, samesite, secure, httponly.
         *
         * @param array<string, mixed> $options
         * @throws \ValueError
         */
        public function cookie(string $name, string $value = '', array $options = []): Response {}

        /**
         * Adds a header that follows the body.
         *
         * @throws \ValueError
         */
        public function trailer(string $name, string $value): Response {}

        /**
         * Returns a response with a value as JSON. $flags: those of json_encode().
         *
         * @throws \JsonException
         */
        public static function json(mixed $value, int $status = 200, int $flags = 0): Response {}

        /**
         * Returns a response that is a stream of events, for EventSource in browsers. $events: an iterable of texts, or of arrays
         * that have the arguments of Writer::event() by their names; or a \Closure(Writer): void that calls it. After each
         * $heartbeat seconds a comment is sent, so that proxies do not cut the connection; 0: none.
         *
         * @param iterable<string|array{data: string, event?: ?string, id?: ?string, retry?: ?int}>|\Closure(Writer): void $events
         * @throws \ValueError
         */
        public static function events(mixed $events, float $heartbeat = 15.0): Response {}

        /** Returns a redirection. */
        public static function redirect(string $location, int $status = 302): Response {}
    }

    /** The body of a response that is written piece by piece: the argument of a closure. */
    final class Writer
    {
        /**
         * Writes, and waits if the client has not taken what was written before.
         *
         * @throws ServerException if the response is longer than its Content-Length
         * @throws ClientDisconnected
         */
        public function write(string $data): void {}

        /**
         * Writes an event of a stream of events. $event: its type, 'message' for the client if there is none. $id: what the client
         * sends as the header Last-Event-ID when it connects again. $retry: after how many milliseconds it does so.
         *
         * @throws \ValueError if the type or the id has line breaks
         * @throws ClientDisconnected
         */
        public function event(string $data, ?string $event = null, ?string $id = null, ?int $retry = null): void {}

        /** Sends what was written, without waiting for more: yields to the loop. */
        public function flush(): void {}
    }

    /**
     * An open WebSocket, which is the messages of its client when it is iterated. Pings of the client are answered by themselves.
     *
     * @implements \IteratorAggregate<int, Message>
     */
    final class WebSocket implements \IteratorAggregate
    {
        /**
         * Waits for a message, and returns it; null when the WebSocket is closed.
         *
         * @throws ClientDisconnected if the client is gone without having closed it
         */
        public function receive(): ?Message {}

        /**
         * Sends a text, and waits if the client has not taken what was sent before.
         *
         * @throws \ValueError if it is not valid UTF-8
         * @throws ClientDisconnected if the WebSocket is closed
         */
        public function send(string $text): void {}

        /**
         * Sends bytes, and waits if the client has not taken what was sent before.
         *
         * @throws ClientDisconnected if the WebSocket is closed
         */
        public function sendBinary(string $data): void {}

        /**
         * Sends a ping, of at most 125 bytes.
         *
         * @throws ClientDisconnected if the WebSocket is closed
         */
        public function ping(string $data = ''): void {}

        /** Closes it. Messages that come later are dropped. Does nothing if it is closed. */
        public function close(int $code = 1000, string $reason = ''): void {}

        /** Returns whether it is closed, by either side. */
        public function isClosed(): bool {}

        /** Returns the subprotocol that was chosen. */
        public function protocol(): ?string {}

        /** Returns the code with which the client has closed it: 1005 if it has given none; null if it has not closed it. */
        public function closeCode(): ?int {}

        /** Returns the reason with which the client has closed it. */
        public function closeReason(): ?string {}

        /** @return \Iterator<int, Message> */
        public function getIterator(): \Iterator {}
    }

    /** A message of a WebSocket. */
    final class Message implements \Stringable
    {
        /** Returns its content: valid UTF-8, unless it is binary. */
        public function data(): string {}

        /** Returns whether it was sent as binary data. */
        public function isBinary(): bool {}

        /** Returns its content. */
        public function __toString(): string {}
    }

    /**
     * What coroutines say to all that listen, in this process and, under `spindle serve`, in all its workers. All objects with the
     * same name are the same topic.
     */
    final class Topic
    {
        /** @throws \ValueError if the name does not have from 1 to 255 bytes */
        public function __construct(string $name) {}

        /** Returns the name. */
        public function name(): string {}

        /**
         * Sends a message to all that have subscribed, and waits for none of them. No one else gets it, now or later.
         *
         * @throws \ValueError if it has more than 262,144 bytes
         */
        public function publish(string $message): void {}

        /**
         * Returns all messages that are published from now on.
         *
         * @param int $capacity how many may wait to be received: with one more the subscription ends
         * @throws \ValueError if the capacity is not between 1 and 1,048,576
         */
        public function subscribe(int $capacity = 64): Subscription {}
    }

    /**
     * The messages of a topic, which are these when it is iterated. It ends with its object.
     *
     * @implements \IteratorAggregate<int, string>
     */
    final class Subscription implements \IteratorAggregate
    {
        /**
         * Waits for a message, and returns it; null when the subscription is closed.
         *
         * @throws MessagesLost if the next message is missing; later ones do not come either
         */
        public function receive(): ?string {}

        /** Closes it: nothing is received any more. Does nothing if it is closed. */
        public function close(): void {}

        /** @return \Iterator<int, string> */
        public function getIterator(): \Iterator {}
    }

    /** An uploaded file. It is removed with its object, unless it was moved. */
    final class UploadedFile
    {
        /** Returns the name that the client has given, without folders. Never use it as a path. */
        public function name(): string {}

        /** Returns the type that the client has given. */
        public function type(): string {}

        /** Returns where it is; null if there is none, or it was moved. */
        public function path(): ?string {}

        /** Returns the number of its bytes. */
        public function size(): int {}

        /** Returns one of the constants UPLOAD_ERR_…. */
        public function error(): int {}

        /**
         * Moves it.
         *
         * @throws ServerException if there is none, or it cannot be moved there
         */
        public function moveTo(string $path): void {}
    }

    /** The server cannot do that. */
    class ServerException extends \Async\AsyncException {}

    /** The body of a request is larger than allowed. A handler that does not catch it answers 413. */
    class PayloadTooLarge extends ServerException {}

    /** The body of a request is malformed. A handler that does not catch it answers 400. */
    class BadRequest extends ServerException {}

    /** The request does not ask for a WebSocket. A handler that does not catch it answers 426. */
    class UpgradeRequired extends ServerException {}

    /** The request comes from a page that may not use the WebSocket. A handler that does not catch it answers 403. */
    class Forbidden extends ServerException {}

    /** Messages of a topic have come faster than they were received, or were lost between processes: the subscription has ended. */
    class MessagesLost extends ServerException {}

    /** The handler was cancelled because its client has gone away. */
    class ClientDisconnected extends \Async\CancellationException {}

    /** The handler was cancelled because it, or the body of its request, has taken too long. */
    class RequestTimeout extends \Async\CancellationException {}

    /** The handler was cancelled because the server stops. */
    class ServerStopped extends \Async\CancellationException {}

    /**
     * Returns the request of the calling coroutine: of the handler, and of all coroutines in its scope and in those below it. Null
     * outside of handlers; in worker mode the superglobals tell it.
     */
    function currentRequest(): ?Request {}

    /**
     * Returns the id of the running request, as Request::id() does, in all modes: in its handler, and in the coroutines that it spawns. Null
     * elsewhere.
     */
    function requestId(): ?string {}

    /**
     * Completes the response of the running request in worker mode: the client gets what was printed, and the request goes on.
     * Output and headers that follow go nowhere. Returns false if there is no such request, or its response is complete.
     */
    function finish(): bool {}
}

namespace Async {
    /**
     * Calls $body in a new instance, and returns the coroutine: its result is what $body returns, and its failure what $body throws. An
     * instance has all static and global variables for itself, as in application mode: they begin as they were when the first one was
     * made. So workers of a queue can be many in one process, each with an application of its own. See docs/application-mode.md.
     *
     * The instance ends, with its shutdown functions and destructors, when $body and the coroutines that it has spawned have ended. `exit` ends
     * it; the result is null then. Cancelling the coroutine cancels those of the instance. $body and what it leads to are
     * shared with the caller, and the result is.
     *
     * @template R
     * @param callable(): R $body
     * @return Coroutine<R>
     * @throws AsyncException if called in an instance or in a request
     */
    function spawnInstance(callable $body): Coroutine {}
}
