<?php
/**
 * The servers under load: Spindle, the plain loop and C in turn.
 */

final class Servers
{
    private const CONNECTIONS = ['http' => 64, 'handler' => 64, 'worker' => 64, 'tls' => 64, 'peers' => 64, 'tasks' => 64, 'echo' => 50, 'react' => 50, 'revolt' => 50, 'react-idle' => 50, 'revolt-idle' => 50];
    /** Further connections that send nothing, of the kinds that say so; select() takes no more. */
    public const IDLE = 900;

    /** What a browser sends. */
    private const HEADERS = ['User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0', 'Accept: text/html,application/xhtml+xml',
        'Accept-Language: en-US,en;q=0.5', 'Accept-Encoding: gzip, deflate, br, zstd', 'DNT: 1', 'Sec-GPC: 1', 'Connection: keep-alive',
        'Cookie: session=0123456789abcdef0123456789abcdef', 'Upgrade-Insecure-Requests: 1', 'Sec-Fetch-Dest: document', 'Sec-Fetch-Mode: navigate',
        'Sec-Fetch-Site: none', 'Sec-Fetch-User: ?1', 'Priority: u=0, i'];
    /** Servers of others, by the program that has to be there. */
    private const PEERS = ['hyper', 'nginx', 'node', 'amphp', 'react'];
    /** The packages of those in PHP. */
    private const PACKAGES = ['amphp' => 'amphp/http-server', 'react' => 'reactphp/http'];

    /** @var list<string> for the end of the report */
    public array $notes = [];
    private ?bool $canCount = null;

    public function __construct(
        private readonly Machine $machine,
        private readonly int $rounds,
        private readonly bool $quick,
        private readonly bool $verbose,
        private readonly bool $withSpindle,
    ) {}

    /** @return list<Row> none where the load cannot be had here */
    public function measure(string $kind): array
    {
        if (self::speaksHttp($kind) && !$this->machine->has('wrk')) {
            $this->notes[] = "$kind: skipped, there is no `wrk` here.";
            return [];
        }
        if (!self::speaksHttp($kind) && $this->machine->compiled('load') === null) {
            $this->notes[] = "$kind: skipped, there is no working `cc` here.";
            return [];
        }
        $needed = ['react' => 'reactphp/socket', 'revolt' => 'revoltphp/event-loop'][strtok($kind, '-')] ?? null;
        if ($needed !== null && !is_dir(getenv('SPINDLE_SOURCES') . "/$needed")) {
            $this->notes[] = "$kind echo: skipped, there is no $needed in the folder that SPINDLE_SOURCES names.";
            return [];
        }
        $rows = serverRows($kind);
        $servers = $this->servers($kind);
        if ($kind === 'tls' && !isset($servers['spindle'])) {
            $this->notes[] = 'TLS: skipped, there is no `openssl` here.';
            return [];
        }
        for ($round = 1; $round <= $this->rounds; $round++) {
            progress("$kind servers, round $round of $this->rounds");
            // Each side is as often the first as the other.
            foreach ($this->round($round % 2 ? $servers : array_reverse($servers), $kind) as $name => $got) {
                if ($got === null) {
                    unset($servers[$name]); // it will not do better next time
                } elseif ($name === 'c' || in_array($name, self::PEERS, true)) {
                    $rows[$name]->samples['plain'][] = $got['cpu'];
                } else {
                    $rows['cpu']->samples[$name][] = $got['cpu'];
                    $rows['rate']->samples[$name][] = $got['rate'];
                }
            }
        }
        foreach (array_intersect_key($rows, ['c' => true] + array_flip(self::PEERS)) as $row) {
            $row->samples['spindle'] = $rows['cpu']->samples['spindle'];
        }
        if (isset($rows['more'])) {
            // Round by round, as both sides of one have seen the same machine.
            $rows['more']->samples['spindle'] = array_map(static fn(float $with, float $without): float => max(0, $with - $without),
                $rows['cpu']->samples['spindle'], array_slice($rows['cpu']->samples['plain'], 0, count($rows['cpu']->samples['spindle'])));
        }
        if ($kind === 'peers') {
            return array_values(array_diff_key($rows, ['cpu' => true, 'rate' => true]));
        }
        $this->callsPerRequest($rows['calls'], $servers, $kind);
        return array_values($rows);
    }

    /** @return array<string, list<string>> commands by name */
    private function servers(string $kind): array
    {
        $servers = [];
        // Only Spindle has the server of handlers: it is compared with others, and with TLS to itself without.
        $own = in_array($kind, ['handler', 'worker', 'peers', 'tls'], true);
        if ($kind === 'tls' && !$this->certificate()) {
            return [];
        }
        $sides = array_filter(['spindle', 'plain'], fn(string $side): bool => $side === 'spindle' || $kind === 'tls' ? $this->withSpindle : !$own);
        foreach ($sides as $side) {
            $file = $own ? 'server' : (['http' => 'server', 'echo' => 'server', 'tasks' => 'task-server'][$kind] ?? 'loops');
            $servers[$side] = [...$this->machine->php($own ? 'spindle' : $side), dirname(__DIR__) . "/suite/$file.php", $side, strtok($kind, '-')];
        }
        if ($kind === 'peers') {
            $servers += $this->peers();
        }
        if (!in_array($kind, ['http', 'handler', 'worker', 'peers', 'echo'], true)) {
            return $servers; // that of C speaks neither, or keeps connections
        }
        $c = $this->machine->compiled('epoll');
        if ($c === null) {
            $this->notes[] = "$kind: no C server to compare with, there is no working `cc` here.";
        } else {
            $servers['c'] = [$c, $own ? 'http' : $kind];
        }
        return $servers;
    }

    /** Makes a certificate for the server with TLS, which finds it by BENCH_TLS. */
    private function certificate(): bool
    {
        $name = $this->machine->scratch() . '/tls';
        putenv("BENCH_TLS=$name");
        exec('openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=bench -keyout '
            . escapeshellarg("$name.key") . ' -out ' . escapeshellarg("$name.pem") . ' 2>&1', $lines, $status);
        return $status === 0;
    }

    /** @return array<string, list<string>> servers of others, which answer the same, in one process, without a log */
    private function peers(): array
    {
        $peers = [];
        $folder = $this->machine->scratch();
        foreach (self::PEERS as $name) {
            if ($package = self::PACKAGES[$name] ?? null) {
                if (is_dir(getenv('SPINDLE_SOURCES') . "/$package")) {
                    $peers[$name] = [...$this->machine->php('plain'), dirname(__DIR__) . '/suite/peers.php', $name];
                } else {
                    $this->notes[] = "peers: no $package to compare with in the folder that SPINDLE_SOURCES names.";
                }
                continue;
            }
            if ($name === 'hyper') {
                if ($program = $this->machine->crate('hyper')) {
                    $peers[$name] = [$program];
                } else {
                    $this->notes[] = 'peers: no hyper to compare with, cargo could not build it.';
                }
                continue;
            }
            if (!$this->machine->has($name)) {
                $this->notes[] = "peers: no $name to compare with, it is not installed.";
                continue;
            }
            if ($name === 'nginx') {
                $probe = stream_socket_server('tcp://127.0.0.1:0');
                $port = (int) substr(strrchr(stream_socket_get_name($probe, false), ':'), 1);
                fclose($probe);
                file_put_contents("$folder/nginx.conf", "daemon off; master_process off; worker_processes 1; pid $folder/nginx.pid; error_log stderr;
                    events { worker_connections 1024; }
                    http { access_log off; keepalive_requests 1000000000; client_body_temp_path $folder; proxy_temp_path $folder; fastcgi_temp_path $folder;
                    uwsgi_temp_path $folder; scgi_temp_path $folder; default_type text/plain;
                    server { listen 127.0.0.1:$port; location / { return 200 Hello; } } }");
                $peers[$name] = ['bash', '-c', "(until : >/dev/tcp/127.0.0.1/$port; do sleep 0.05; done 2>/dev/null; echo $port $$) & exec nginx -c $folder/nginx.conf >/dev/null"];
            } else {
                file_put_contents("$folder/peer.js", "const server = require('http').createServer((request, response) => {
                        response.writeHead(200, {'Content-Type': 'text/plain', 'Content-Length': 5}); response.end('Hello'); });
                    server.keepAliveTimeout = 75000;
                    server.listen(0, '127.0.0.1', () => console.log(server.address().port, process.pid));");
                $peers[$name] = ['node', "$folder/peer.js"];
            }
        }
        return $peers;
    }

    /**
     * All servers run, and are under load in turn, a short while each: what else the machine does changes slower than that.
     *
     * @return array<string, ?array{cpu: float, rate: float}> µs of CPU per request and requests per second, by the name of the server
     */
    private function round(array $servers, string $kind): array
    {
        [$slices, $seconds] = $this->slices($kind);
        $running = $got = [];
        foreach ($servers as $name => $command) {
            $running[$name] = $this->begin($command);
            $got[$name] = ['cpu' => 0.0, 'time' => 0, 'requests' => 0];
            // What a server does once is not measured, where there is a load that is short enough.
            if ($running[$name]->pid === null || !self::speaksHttp($kind) && $this->load($running[$name]->port, $kind, 0.25, [], $name) === null) {
                $got[$name] = null;
            }
        }
        for ($slice = 0; $slice < $slices; $slice++) {
            foreach ($slice % 2 ? array_reverse($running) : $running as $name => $server) {
                if ($got[$name] === null) {
                    continue;
                }
                $cpu = $this->machine->cpuSeconds($server->pid);
                $start = hrtime(true);
                $requests = $this->load($server->port, $kind, $seconds, [], $name);
                $got[$name] = $requests === null ? null : [
                    'cpu' => $got[$name]['cpu'] + $this->machine->cpuSeconds($server->pid) - $cpu,
                    'time' => $got[$name]['time'] + hrtime(true) - $start,
                    'requests' => $got[$name]['requests'] + $requests,
                ];
            }
        }
        foreach ($running as $name => $server) {
            $this->end($server, "$kind server ($name)", $got[$name] !== null);
        }
        return array_map(static fn(?array $sums): ?array => $sums === null ? null : [
            'cpu' => 1e6 * $sums['cpu'] / $sums['requests'],
            'rate' => 1e9 * $sums['requests'] / $sums['time'],
        ], $got);
    }

    /** @return array{int, float} how often a server is under load in a round, and for how many seconds each time; wrk takes whole ones */
    private function slices(string $kind): array
    {
        return match (true) {
            $this->quick => [1, 1.0],
            str_ends_with($kind, '-idle') => [1, 3.0], // that it takes the idle connections is not to weigh
            self::speaksHttp($kind) => [3, 1.0],
            default => [12, 0.25],
        };
    }

    /** In runs of their own: counting costs time. */
    private function callsPerRequest(Row $row, array $servers, string $kind): void
    {
        $this->canCount ??= $this->machine->has('perf')
            && preg_match('/^\d+,/m', (string) shell_exec('perf stat -x, -e raw_syscalls:sys_enter true 2>&1')) === 1;
        $canTrace = $this->machine->has('strace');
        if (!$this->canCount && !$canTrace) {
            $this->notes[] = 'System calls: skipped, there is neither `perf` with tracepoints nor `strace` here.';
            return;
        }
        $sides = array_diff_key($servers, ['c' => true]);
        for ($round = 1; $round <= min(3, $this->rounds); $round++) {
            foreach ($sides as $name => $command) {
                progress("$kind server, counting system calls, $name");
                $calls = $this->with($command, "$kind server ($name)", fn(int $port, int $pid): ?float => $this->canCount
                    ? $this->counted($port, $pid, $kind, $name) : (array_sum($this->traced($port, $pid, $kind, $name) ?? []) ?: null));
                if ($calls !== null) {
                    $row->samples[$name][] = $calls;
                }
            }
        }
        foreach ($this->verbose && $canTrace ? $servers : [] as $name => $command) {
            $calls = $this->with($command, "$kind server ($name)", fn(int $port, int $pid): ?array => $this->traced($port, $pid, $kind, $name)) ?? [];
            arsort($calls);
            $this->notes[] = "$kind ($name), system calls per request: " . implode(', ', array_map(
                static fn(string $call): string => sprintf('%s %.3f', $call, $calls[$call]), array_slice(array_keys($calls), 0, 8)));
        }
    }
    /** By `perf`: a counter in the kernel, which hardly slows the server. */
    private function counted(int $port, int $pid, string $kind, string $name): ?float
    {
        $file = $this->machine->scratch() . '/perf';
        $requests = $this->load($port, $kind, 1,
            ['perf', 'stat', '-x,', '-o', $file, '-e', 'raw_syscalls:sys_enter', '-p', (string) $pid, '--'], $name);
        return $requests !== null && preg_match('/^(\d+),.*raw_syscalls:sys_enter/m', (string) file_get_contents($file), $m)
            ? $m[1] / $requests : null;
    }

    /**
     * By `strace`: knows the names, and stops the server at each call.
     *
     * @return ?array<string, float> calls of each name per request
     */
    private function traced(int $port, int $pid, string $kind, string $name): ?array
    {
        $file = $this->machine->scratch() . '/strace';
        $strace = $this->machine->start(['strace', '-c', '-f', '-o', $file, '-p', (string) $pid]);
        usleep(300_000); // it attaches
        $requests = $this->load($port, $kind, 1, [], $name);
        $this->machine->stop($strace, 2); // SIGINT: it detaches and writes its table
        $calls = [];
        foreach ($requests === null || !is_file($file) ? [] : file($file) as $line) {
            if (preg_match('/^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?(\w+)$/', $line, $m) && $m[2] !== 'total') {
                $calls[$m[2]] = $m[1] / $requests;
            }
        }
        return $calls ?: null;
    }
    private static function speaksHttp(string $kind): bool
    {
        return in_array($kind, ['http', 'handler', 'worker', 'tls', 'peers', 'tasks'], true);
    }

    private static function url(string $kind, string $name): string
    {
        return $kind === 'tls' && $name === 'spindle' ? 'https://' : 'http://';
    }

    /** @return list<string> options of wrk: with `Host` there are 15 headers in worker mode */
    private static function headers(string $kind): array
    {
        return $kind === 'worker' ? array_merge(...array_map(static fn(string $header): array => ['-H', $header], self::HEADERS)) : [];
    }

    /** @return ?int requests answered */
    private function load(int $port, string $kind, float $seconds, array $wrapper = [], string $name = 'spindle'): ?int
    {
        $connections = self::CONNECTIONS[$kind];
        $client = self::speaksHttp($kind)
            ? ['wrk', '-t1', "-c$connections", "-d{$seconds}s", ...self::headers($kind), self::url($kind, $name) . "127.0.0.1:$port/" . ($kind === 'worker' ? '?page=1' : '')]
            : [$this->machine->compiled('load'), (string) $port, (string) $connections, (string) $seconds, ...str_ends_with($kind, '-idle') ? [(string) self::IDLE] : []];
        $out = $this->machine->output([...$wrapper, ...$this->machine->onCpu(1), ...$client], "load of the $kind server");
        if ($out === null) {
            return null;
        }
        if (preg_match(self::speaksHttp($kind) ? '/(\d+) requests in/' : '/^(\d+)$/m', $out, $m) && $m[1] > 0
            && !preg_match('/Non-2xx|Socket errors/', $out)) {
            return (int) $m[1];
        }
        $this->machine->failures[] = "load of the $kind server: " . trim($out);
        return null;
    }

    /** Starts a server, calls $do(port, pid), ends the server. */
    private function with(array $command, string $what, Closure $do): mixed
    {
        $server = $this->begin($command);
        $result = $server->pid === null ? null : $do($server->port, $server->pid);
        $this->end($server, $what, $result !== null);
        return $result;
    }

    /** @return object{process: object, port: ?int, pid: ?int} none if it did not start */
    private function begin(array $command): object
    {
        $process = $this->machine->start([...$this->machine->onCpu(0), ...$command]);
        $has = preg_match('/^(\d+) (\d+)$/', trim((string) fgets($process->out)), $m);
        return (object) ['process' => $process, 'port' => $has ? (int) $m[1] : null, 'pid' => $has ? (int) $m[2] : null];
    }

    private function end(object $server, string $what, bool $hasFigure): void
    {
        $this->machine->stop($server->process, 15);
        if (!$hasFigure) {
            $this->machine->failures[] = "$what: " . ($server->process->errors() ?: ($server->pid === null ? 'did not start' : 'no figure'));
        }
    }
}
