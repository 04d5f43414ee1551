<?php
/*
 * What the cases with real clients have in common.
 */

declare(strict_types=1);

namespace ServerTests;

const DISCONNECTS = LONG ? 10_000 : 2_000;

/** A running server. */
final class App
{
    private $process;
    private $pipes;
    public readonly string $address;
    /** Where it is, without a path. */
    public readonly string $url;

    public function __construct(string $script = HERE . '/app.php', string ...$arguments)
    {
        $command = [PHP_BINARY, '-n', '-d', 'extension=' . EXTENSION, '-d', 'display_errors=stderr', $script, ...$arguments];
        $this->process = proc_open($command, [['pipe', 'r'], ['pipe', 'w'], ['file', WORK . '/stderr', 'a']], $this->pipes, WORK);
        $this->address = trim((string) fgets($this->pipes[1])) ?: \Runner\fail('the server does not start: ' . file_get_contents(WORK . '/stderr'));
        $this->url = ($script === HERE . '/app.php' && $arguments ? 'https' : 'http') . "://$this->address";
    }

    /** Returns what it prints until its end. */
    public function rest(): string
    {
        $rest = stream_get_contents($this->pipes[1]);
        $status = proc_close($this->process);
        $this->process = null;
        return trim($rest) . ($status > 0 ? " (status $status)" : '');
    }

    public function signal(int $signal = SIGTERM): void
    {
        proc_terminate($this->process, $signal);
    }

    public function stats(): array
    {
        return json_decode(curl($this, '/stats'), true) ?? throw new \Exception('no stats: ' . file_get_contents(WORK . '/stderr'));
    }

    public function __destruct()
    {
        $this->process && proc_terminate($this->process, SIGKILL);
    }
}

function shell(string $command): string
{
    exec("timeout 60 $command 2>&1", $lines, $status);
    return implode("\n", $lines) . ($status ? " (status $status)" : '');
}

function curl(App $app, string $path, string $options = ''): string
{
    return shell("curl -s --cacert " . WORK . "/one.pem --max-time 30 $options " . escapeshellarg("$app->url$path"));
}

function same(mixed $expected, mixed $found): void
{
    $expected === $found || throw new \Exception('expected ' . var_export($expected, true) . ', found ' . var_export($found, true) . \Runner\place());
}

function until(callable $condition, int $seconds = 60): void
{
    for ($start = microtime(true); !$condition(); usleep(10_000)) {
        microtime(true) < $start + $seconds || throw new \Exception('it does not come' . \Runner\place());
    }
}

/** Opens a page in a browser, and returns what is there when it has loaded. */
function browse(string $url): string
{
    // No sandbox: that needs rights that a container does not give, and the page is ours.
    return shell('chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --disable-background-networking --ignore-certificate-errors --user-data-dir='
        . WORK . "/browser --dump-dom '$url' 2>" . WORK . '/browser.log');
}

/** Runs a program with the library `websockets` of Debian, which belongs to Debian's Python. */
function websockets(App $app, string $body): string
{
    $indented = preg_replace('/^/m', '    ', $body);
    file_put_contents(WORK . '/sockets.py', <<<PY
        import asyncio, ssl, sys, websockets
        async def main():
            if sys.argv[1].startswith('wss'):
                trust = {'ssl': ssl.create_default_context(cafile=sys.argv[2])}
            else:
                trust = {}
            connect = lambda path, **options: websockets.connect(f'{sys.argv[1]}{path}', **trust, **options)
        $indented
        asyncio.run(main())
        PY);
    $url = preg_replace('~^http|/$~', '', str_contains($app->address, '//') ? $app->address : $app->url);
    return shell('/usr/bin/python3 ' . WORK . "/sockets.py ws$url " . WORK . '/one.pem');
}

/** Runs a program in Python with the address of the server, a context that trusts its certificate, and $text(bytes). */
function python(App $app, string $program): string
{
    file_put_contents(WORK . '/program.py', "import socket, ssl, sys, time, random, struct\nhost, port = sys.argv[1].split(':')\naddress = (host, int(port))\n"
        . "trust = ssl.create_default_context(cafile=sys.argv[2])\n" . $program);
    return shell('python3 ' . WORK . "/program.py $app->address " . WORK . '/one.pem');
}

/** Makes NAME.pem and NAME.key. */
function certificate(string $name, string $hosts): void
{
    $made = shell("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -keyout " . WORK . "/$name.key -out "
        . WORK . "/$name.pem -subj /CN=$name -addext subjectAltName=$hosts");
    str_contains($made, 'status') && \Runner\fail($made);
}

/* The name, and the options of curl. */
const PROTOCOLS = ['HTTP/1.1' => '--http1.1', 'HTTP/2' => '--http2-prior-knowledge', 'HTTP/1.1 over TLS' => '--http1.1', 'HTTP/2 over TLS' => '--http2'];

certificate('one', 'DNS:one.example,IP:127.0.0.1');
certificate('two', 'DNS:two.example,DNS:*.two.example');
$data = random_bytes(1_900_000);
file_put_contents(WORK . '/data', $data);
file_put_contents(WORK . '/large', str_repeat($data, 3));

/** Returns the lines of the documentation for a proxy. */
function documented(string $language): string
{
    preg_match("~^```$language\n(.*?)^```~ms", file_get_contents(dirname(HERE, 2) . '/docs/deploy.md'), $found);
    return $found[1];
}

/** A proxy, which ends with its object. */
final class Proxy
{
    private $process;

    /** It listens on these ports. */
    public function __construct(string $name, string $lines, int ...$ports)
    {
        $file = WORK . "/$name.conf";
        $command = match ($name) {
            'nginx' => ['nginx', '-e', WORK . '/nginx.log', '-c', $file],
            'caddy' => ['caddy', 'run', '--adapter', 'caddyfile', '--config', $file],
            'haproxy' => ['haproxy', '-db', '-f', $file],
        };
        if ($name === 'nginx') {
            $paths = implode(' ', array_map(fn($of) => "{$of}_temp_path " . WORK . "/nginx-$of;", ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']));
            $lines = 'daemon off; ' . (posix_geteuid() === 0 ? 'user root; ' : '') . 'pid ' . WORK . "/nginx.pid; events {}\nhttp { access_log off; $paths\n$lines}\n";
        }
        file_put_contents($file, $lines);
        $files = [['file', '/dev/null', 'r'], ['file', WORK . '/proxy.log', 'w'], ['redirect', 1]];
        $this->process = proc_open($command, $files, $pipes, WORK, ['HOME' => WORK, 'XDG_DATA_HOME' => WORK, 'XDG_CONFIG_HOME' => WORK] + getenv());
        foreach ($ports as $port) {
            until(fn() => proc_get_status($this->process)['running'] ? @stream_socket_client("tcp://127.0.0.1:$port") !== false
                : throw new \Exception('it does not start: ' . file_get_contents(WORK . '/proxy.log')));
        }
    }

    public function __destruct()
    {
        proc_terminate($this->process);
        proc_close($this->process);
    }
}

/** `spindle serve` with its output, in the folder WORK. */
final class Serving
{
    private $process;
    public readonly string $url;

    /** @param string|list<string> ...$arguments of the command; `through`: what executes it; `passes`: its descriptors from 3 on */
    public function __construct(string|array ...$arguments)
    {
        $through = $arguments['through'] ?? [];
        $passes = $arguments['passes'] ?? [];
        unset($arguments['through'], $arguments['passes']);
        $command = [...$through, dirname(EXTENSION) . '/spindle', 'serve', ...(in_array('--php', $arguments, true) ? [] : ['--php', PHP_BINARY]), '--extension', EXTENSION, ...(array_intersect(['--listen', '--config'], $arguments) ? [] : ['--listen', '127.0.0.1:0']), ...$arguments];
        $files = [['file', '/dev/null', 'r'], ['file', WORK . '/serve.out', 'w'], ['file', WORK . '/serve.err', 'w'], ...$passes];
        $this->process = proc_open($command, $files, $pipes, WORK);
        try {
            until(function () use (&$found) {
                proc_get_status($this->process)['running'] || throw new \Exception('it does not start: ' . $this->errors());
                return preg_match('~^Serving .* at (unix:\S+|https?://[^/\s]+)/?(?:, .*)? \(~m', $this->errors(), $found);
            });
        } catch (\Exception $e) {
            $this->signal(); // an object that was not made has no destructor
            throw $e;
        }
        $this->url = $found[1];
    }

    public function errors(): string
    {
        return file_get_contents(WORK . '/serve.err');
    }

    public function get(string $path, string $options = ''): string
    {
        return shell("curl -s --cacert " . WORK . "/one.pem --max-time 30 $options '$this->url$path'");
    }

    public function signal(int $signal = SIGTERM): void
    {
        proc_terminate($this->process, $signal);
    }

    public function process(): int
    {
        return proc_get_status($this->process)['pid'];
    }

    /** Returns its exit status. */
    public function end(): int
    {
        until(function () use (&$status) { return !($status = proc_get_status($this->process))['running']; });
        return $status['signaled'] ? 128 + $status['termsig'] : $status['exitcode'];
    }

    public function __destruct()
    {
        proc_terminate($this->process, SIGTERM);
    }
}

function app(string $name, string $code): string
{
    file_put_contents(WORK . "/$name", "<?php\n$code\n");
    return $name;
}
