<?php
/*
 * The other side of the HTTP and stream cases: one process with an event loop, any number of connections at once.
 *
 *   php -n peer.php PEM UNIX_SOCKET ENV_FILE
 *
 * HTTP and HTTPS (keep-alive):  GET /MS/TEXT      answers TEXT after MS milliseconds
 *                               GET /serial       answers 1, then 2, then 3, …
 *                               POST, PUT /MS     answers the request's body after MS milliseconds
 *                               POST /soap/MS     calls a method of soap.php's service; GET /wsdl/MS  describes it
 *                               GET /chunked/MS/A/B/C   sends the chunks A, B, C, MS milliseconds between them
 * lines (TCP, TLS, Unix):       MS TEXT           answers TEXT after MS milliseconds
 *                               sink MS BYTES     reads nothing for MS milliseconds, then BYTES bytes; answers their md5
 *                               flood MS BYTES    sends BYTES bytes after MS milliseconds
 *                               close MS          hangs up after MS milliseconds
 *                               proxy MS PORT     answers a port of ours: what comes from PORT through it is MS milliseconds late
 *
 * PEM has the certificate and the key. When it listens it writes its addresses to ENV_FILE; it ends with its standard
 * input.
 */
require __DIR__ . '/soap.php';

[, $pem, $socket, $env_file] = $argv;

final class Connection
{
    public string $in = '';
    public string $out = '';
    public float $deaf_until = 0;       // nothing is read before
    public array $sink = [];            // [bytes to go, md5 context]
    public bool $handshake = false;
    public bool $closing = false;
    public ?self $other = null;         // what it reads goes there
    public float $delay = 0;            // so late

    public function __construct(public $stream, public bool $http) {}
}

final class Loop
{
    public array $listeners = [];       // id => [stream, is http, is tls]; a proxy: [stream, port, delay]
    public array $connections = [];
    private int $serial = 0;
    public array $timers = [];          // [when, what], unsorted: there are few

    public function after(float $ms, callable $what): void
    {
        $this->timers[] = [microtime(true) + $ms / 1000, $what];
    }

    public function listen(string $address, bool $http, bool $tls, string $pem): string
    {
        $context = stream_context_create(['ssl' => ['local_cert' => $pem], 'socket' => ['backlog' => 512, 'tcp_nodelay' => true]]);
        $stream = stream_socket_server($address, $code, $message, STREAM_SERVER_BIND | STREAM_SERVER_LISTEN, $context)
            ?: exit("peer: $address: $message\n");
        stream_set_blocking($stream, false);
        $this->listeners[(int) $stream] = [$stream, $http, $tls];
        return substr(strrchr(stream_socket_get_name($stream, false), ':'), 1);
    }

    public function run(): void
    {
        while (true) {
            $now = microtime(true);
            foreach ($this->timers as $key => [$when, $what]) {
                if ($when <= $now) {
                    unset($this->timers[$key]);
                    $what();
                }
            }
            $read = [STDIN, ...array_column($this->listeners, 0)];
            $write = [];
            $next = $this->timers ? min(array_column($this->timers, 0)) : $now + 3600;
            foreach ($this->connections as $connection) {
                if ($connection->deaf_until <= $now) {
                    $read[] = $connection->stream;
                } else {
                    $next = min($next, $connection->deaf_until);
                }
                if ($connection->out !== '') {
                    $write[] = $connection->stream;
                }
            }
            $wait = (int) (max(0, $next - microtime(true)) * 1e6);
            $except = null;
            if (!stream_select($read, $write, $except, intdiv($wait, 1_000_000), $wait % 1_000_000)) {
                continue;
            }
            foreach ($read as $stream) {
                if ($stream === STDIN) {
                    if (fread(STDIN, 1024) === '') {
                        exit;
                    }
                } elseif (isset($this->listeners[(int) $stream])) {
                    [$listener, $what] = $this->listeners[(int) $stream];
                    is_bool($what) ? $this->accept(...$this->listeners[(int) $stream]) : $this->accept_for(...$this->listeners[(int) $stream]);
                } elseif (isset($this->connections[(int) $stream])) {
                    $this->read($this->connections[(int) $stream]);
                }
            }
            foreach ($write as $stream) {
                if (isset($this->connections[(int) $stream])) {
                    $this->flush($this->connections[(int) $stream]);
                }
            }
        }
    }

    private function accept($listener, bool $http, bool $tls): void
    {
        while ($stream = @stream_socket_accept($listener, 0)) {
            stream_set_blocking($stream, false);
            $connection = new Connection($stream, $http);
            $connection->handshake = $tls;
            $this->connections[(int) $stream] = $connection;
        }
    }

    private function proxy(int $port, float $delay): int
    {
        $stream = stream_socket_server('tcp://127.0.0.1:0');
        stream_set_blocking($stream, false);
        $this->listeners[(int) $stream] = [$stream, $port, $delay];
        return (int) substr(strrchr(stream_socket_get_name($stream, false), ':'), 1);
    }

    private function accept_for($listener, int $port, float $delay): void
    {
        while ($stream = @stream_socket_accept($listener, 0)) {
            $target = stream_socket_client("tcp://127.0.0.1:$port");
            if ($target === false) {
                fclose($stream);
                continue;
            }
            $client = new Connection($stream, false);
            $server = new Connection($target, false);
            $server->delay = $delay;
            [$client->other, $server->other] = [$server, $client];
            foreach ([$client, $server] as $c) {
                stream_set_blocking($c->stream, false);
                $this->connections[(int) $c->stream] = $c;
            }
        }
    }

    private function close(Connection $c): void
    {
        if (!isset($this->connections[(int) $c->stream])) {
            return; // a timer may come after the client has hung up
        }
        unset($this->connections[(int) $c->stream]);
        @fclose($c->stream);
        if ($c->other !== null) {
            $this->after($c->delay, fn() => $this->close_after($c->other));
        }
    }

    /** Closes it when all is sent. */
    private function close_after(Connection $c): void
    {
        $c->closing = true;
        $this->flush($c);
    }

    public function send(Connection $c, string $data): void
    {
        $c->out .= $data;
        $this->flush($c);
    }

    private function flush(Connection $c): void
    {
        if (!isset($this->connections[(int) $c->stream])) {
            return;
        }
        $sent = @fwrite($c->stream, substr($c->out, 0, 1 << 18));
        if ($sent === false) {
            $this->close($c);
            return;
        }
        $c->out = substr($c->out, $sent);
        if ($c->out === '' && $c->closing) {
            $this->close($c);
        }
    }

    private function read(Connection $c): void
    {
        if ($c->handshake) {
            $done = @stream_socket_enable_crypto($c->stream, true, STREAM_CRYPTO_METHOD_TLS_SERVER);
            if ($done === false) {
                $this->close($c);
            } elseif ($done === true) {
                $c->handshake = false;
            }
            return;
        }
        do {
            $data = @fread($c->stream, 1 << 16);
            if ($data === false || $data === '') {
                if (feof($c->stream)) {
                    $this->close($c);
                }
                return;
            }
            if ($c->other !== null) {
                $this->after($c->delay, fn() => $this->send($c->other, $data));
                continue;
            }
            $c->in .= $data;
            $c->http ? $this->requests($c) : $this->lines($c);
        } while (isset($this->connections[(int) $c->stream]) && $c->deaf_until <= microtime(true));
    }

    private function lines(Connection $c): void
    {
        while (true) {
            if ($c->sink) {
                $part = substr($c->in, 0, $c->sink[0]);
                $c->in = substr($c->in, strlen($part));
                $c->sink[0] -= strlen($part);
                hash_update($c->sink[1], $part);
                if ($c->sink[0] > 0) {
                    return;
                }
                $this->send($c, hash_final($c->sink[1]) . "\n");
                $c->sink = [];
            }
            $end = strpos($c->in, "\n");
            if ($end === false) {
                return;
            }
            $words = explode(' ', substr($c->in, 0, $end), 3);
            $c->in = substr($c->in, $end + 1);
            switch ($words[0]) {
                case 'sink':
                    $c->deaf_until = microtime(true) + $words[1] / 1000;
                    $c->sink = [(int) $words[2], hash_init('md5')];
                    break;
                case 'flood':
                    $this->after($words[1], fn() => $this->send($c, str_repeat("0123456789abcdef", intdiv($words[2], 16))));
                    break;
                case 'proxy':
                    $this->send($c, $this->proxy((int) $words[2], (float) $words[1]) . "\n");
                    break;
                case 'close':
                    $this->after($words[1], fn() => $this->close($c));
                    break;
                default:
                    $this->after($words[0], fn() => $this->send($c, implode(' ', array_slice($words, 1)) . "\n"));
            }
        }
    }

    private function requests(Connection $c): void
    {
        while (($end = strpos($c->in, "\r\n\r\n")) !== false) {
            $head = substr($c->in, 0, $end);
            $length = preg_match('/^Content-Length: *(\d+)/mi', $head, $m) ? (int) $m[1] : 0;
            if (preg_match('/^Expect: *100-continue/mi', $head) && strlen($c->in) === $end + 4) {
                $c->in = preg_replace('/^Expect:.*\r\n/mi', '', $c->in, 1);
                $this->send($c, "HTTP/1.1 100 Continue\r\n\r\n");
                return;
            }
            if (strlen($c->in) < $end + 4 + $length) {
                return;
            }
            $body = substr($c->in, $end + 4, $length);
            $c->in = substr($c->in, $end + 4 + $length);
            [$method, $path, $version] = explode(' ', strtok($head, "\r\n"));
            $close = preg_match('/^Connection: *close/mi', $head) || $version === 'HTTP/1.0';
            $parts = array_map('rawurldecode', explode('/', substr($path, 1)));
            if ($parts[0] === 'chunked') {
                $this->chunks($c, (int) $parts[1], array_slice($parts, 2), $close);
                continue;
            }
            if ($parts[0] === 'serial') {
                $parts = [0, (string) ++$this->serial];
            }
            $type = 'text/plain';
            if ($parts[0] === 'soap' || $parts[0] === 'wsdl') {
                $type = 'text/xml';
                $text = array_shift($parts) === 'soap' ? Soap::answer($body)
                    : Soap::description(preg_replace('/.*^Host: *(\S+).*/ims', 'http://$1', $head) . "/soap/$parts[0]");
            } else {
                $text = $method !== 'GET' ? $body : ($parts[1] ?? '');
            }
            $this->after((float) $parts[0], function () use ($c, $type, $text, $close) {
                $c->closing = $close;
                $this->send($c, "HTTP/1.1 200 OK\r\nContent-Type: $type\r\nContent-Length: " . strlen($text)
                    . ($close ? "\r\nConnection: close" : '') . "\r\n\r\n$text");
            });
        }
    }

    private function chunks(Connection $c, int $ms, array $chunks, bool $close): void
    {
        $this->send($c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked" . ($close ? "\r\nConnection: close" : '') . "\r\n\r\n");
        foreach ($chunks as $i => $chunk) {
            $this->after($ms * ($i + 1), fn() => $this->send($c, dechex(strlen($chunk)) . "\r\n$chunk\r\n"));
        }
        $this->after($ms * count($chunks) + 1, function () use ($c, $close) {
            $c->closing = $close;
            $this->send($c, "0\r\n\r\n");
        });
    }
}

set_error_handler(fn() => true);
$loop = new Loop;
$addresses = [
    'MATRIX_HTTP_PORT' => $loop->listen('tcp://127.0.0.1:0', true, false, $pem),
    'MATRIX_HTTPS_PORT' => $loop->listen('tcp://127.0.0.1:0', true, true, $pem),
    'MATRIX_LINE_PORT' => $loop->listen('tcp://127.0.0.1:0', false, false, $pem),
    'MATRIX_TLS_PORT' => $loop->listen('tcp://127.0.0.1:0', false, true, $pem),
    'MATRIX_LINE_SOCKET' => $socket,
    'MATRIX_CERT' => $pem,          // what a client trusts
    'MATRIX_PEM' => $pem,           // what a server shows
];
$loop->listen("unix://$socket", false, false, $pem);
$exports = '';
foreach ($addresses as $name => $value) {
    $exports .= "export $name='$value'\n";
}
file_put_contents("$env_file.new", $exports);
rename("$env_file.new", $env_file);
$loop->run();
