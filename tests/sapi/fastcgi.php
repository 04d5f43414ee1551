<?php
/** A client of FastCGI, and a php-fpm of one's own to talk to. */

namespace Sapi;

/** What came back. */
final class Response
{
    public function __construct(public int $status, public string $headers, public string $body, public string $errors) {}

    public function header(string $name): ?string
    {
        return preg_match("/^$name:\\s*(.*?)\\r?$/mi", $this->headers, $found) ? $found[1] : null;
    }
}

/** One connection, kept open from request to request. */
final class Connection
{
    /** @var resource */
    private $stream;

    /** @param object|null $server stays as long as the connection */
    public function __construct(string $socket, private ?object $server = null)
    {
        $this->stream = stream_socket_client("unix://$socket", $code, $error, 10)
            ?: throw new \RuntimeException("no connection to $socket: $error");
        stream_set_timeout($this->stream, 120);
    }

    /** Sends a request. */
    public function send(string $script, string $query = '', string $body = '', array $params = []): void
    {
        $params += [
            'SCRIPT_FILENAME' => $script, 'SCRIPT_NAME' => '/' . basename($script), 'QUERY_STRING' => $query,
            'REQUEST_URI' => '/' . basename($script) . "?$query", 'REQUEST_METHOD' => $body === '' ? 'GET' : 'POST',
            'SERVER_PROTOCOL' => 'HTTP/1.1', 'GATEWAY_INTERFACE' => 'CGI/1.1', 'CONTENT_LENGTH' => (string) strlen($body),
            'SERVER_NAME' => 'localhost', 'REMOTE_ADDR' => '127.0.0.1',
        ];
        $encoded = '';
        foreach ($params as $name => $value) {
            foreach ([$name, $value] as $text) {
                $encoded .= strlen($text) < 128 ? chr(strlen($text)) : pack('N', strlen($text) | 0x80000000);
            }
            $encoded .= "$name$value";
        }
        $record = fn(int $type, string $content) => pack('CCnnCC', 1, $type, 1, strlen($content), 0, 0) . $content;
        $sent = $record(1, pack('nCx5', 1, 1)); // begin, as a responder; the connection stays
        foreach ([[4, $encoded], [5, $body]] as [$type, $content]) {
            foreach ($content === '' ? [] : str_split($content, 65528) as $piece) {
                $sent .= $record($type, $piece);
            }
            $sent .= $record($type, '');
        }
        fwrite($this->stream, $sent);
    }

    /** Reads the response; null: the connection has ended before it. */
    public function receive(): ?Response
    {
        $output = $errors = '';
        while (($head = $this->read(8)) !== null) {
            ['type' => $type, 'length' => $length, 'padding' => $padding] = unpack('Cversion/Ctype/nid/nlength/Cpadding', $head);
            $content = $this->read($length + $padding);
            if ($content === null) {
                break;
            }
            $content = substr($content, 0, $length);
            match ($type) { 6 => $output .= $content, 7 => $errors .= $content, default => null };
            if ($type === 3) {
                [$headers, $body] = explode("\r\n\r\n", $output, 2) + ['', ''];
                $status = preg_match('/^Status: (\d+)/m', $headers, $found) ? (int) $found[1] : 200;
                return new Response($status, $headers, $body, $errors);
            }
        }
        return null;
    }

    public function get(string $script, string $query = '', string $body = '', array $params = []): ?Response
    {
        $this->send($script, $query, $body, $params);
        return $this->receive();
    }

    private function read(int $bytes): ?string
    {
        for ($got = ''; strlen($got) < $bytes;) {
            $piece = fread($this->stream, $bytes - strlen($got));
            if ($piece === '' || $piece === false) {
                return null;
            }
            $got .= $piece;
        }
        return $got;
    }
}

/** A php-fpm that ends with its object. */
final class Fpm
{
    public readonly string $socket;
    private string $log;
    /** @var resource */
    private $process;
    private static int $made = 0;

    /** @param array<string, string> $pool settings of its pool; @param array<string, string> $ini settings of PHP */
    public function __construct(string $program, string $work, array $ini, array $pool = [])
    {
        $name = 'fpm' . ++self::$made;
        $this->socket = "$work/$name.sock";
        $this->log = "$work/$name.log";
        $pool += ['listen' => $this->socket, 'pm' => 'static', 'pm.max_children' => '1', 'catch_workers_output' => 'yes',
            'access.log' => "$work/$name.access"];
        if (posix_getuid() === 0) {
            $pool += ['user' => 'root', 'group' => 'root'];
        }
        $lines = "[global]\nerror_log = $this->log\ndaemonize = no\nprocess_control_timeout = 60s\npid = $work/$name.pid\n[test]\n";
        foreach ($pool as $key => $value) {
            $lines .= "$key = $value\n";
        }
        file_put_contents("$work/$name.conf", $lines);
        $command = [$program, '-n', '-R', '-F', '-y', "$work/$name.conf"];
        foreach ($ini as $key => $value) {
            array_push($command, '-d', is_int($key) ? $value : "$key=$value");
        }
        $this->process = proc_open($command, [['file', '/dev/null', 'r'], ['file', "$work/$name.out", 'w'], ['redirect', 1]], $pipes);
        until("php-fpm listens; $work/$name.out", fn() => @stream_socket_client("unix://$this->socket") !== false);
    }

    /** The master's number. */
    public function master(): int
    {
        return proc_get_status($this->process)['pid'];
    }

    /** @return list<int> */
    public function workers(): array
    {
        $children = [];
        foreach (glob("/proc/{$this->master()}/task/*/children") as $file) {
            array_push($children, ...array_map(intval(...), preg_split('/\s+/', trim(file_get_contents($file)), 0, PREG_SPLIT_NO_EMPTY)));
        }
        return $children;
    }

    public function log(): string
    {
        return file_get_contents($this->log);
    }

    public function connect(): Connection
    {
        return new Connection($this->socket, $this);
    }

    public function __destruct()
    {
        proc_terminate($this->process, SIGQUIT);
        until('php-fpm ends', function() {
            return !proc_get_status($this->process)['running'];
        });
    }
}

/** Waits for a condition. */
function until(string $what, callable $condition): void
{
    $since = hrtime(true);
    while (!$condition()) {
        if (hrtime(true) - $since > 60e9) {
            throw new \RuntimeException("in vain: $what");
        }
        usleep(2000);
    }
}

/** What a process has: descriptors, threads, resident KiB that are not of files. */
function figures(int $pid): array
{
    preg_match_all('/^(Threads|RssAnon):\s+(\d+)/m', file_get_contents("/proc/$pid/status"), $found);
    $found = array_combine($found[1], array_map(intval(...), $found[2]));
    return ['descriptors' => count(scandir("/proc/$pid/fd")) - 2, 'threads' => $found['Threads'], 'memory' => $found['RssAnon']];
}
