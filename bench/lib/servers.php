<?php
/**
 * The servers under load: Spindle, the plain loop and C in turn.
 */

final class Servers
{
    private const CONNECTIONS = ['http' => 64, 'handler' => 64, 'tasks' => 64, 'echo' => 50, 'react' => 50, 'revolt' => 50];

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
        $needed = ['react' => 'reactphp/socket', 'revolt' => 'revoltphp/event-loop'][$kind] ?? null;
        if ($needed !== null && !is_dir(getenv('SPINDLE_SOURCES') . "/$needed")) {
            $this->notes[] = "$kind echo: skipped, there is no $needed in the folder that SPINDLE_SOURCES names.";
            return [];
        }
        $rows = serverRows($kind);
        $servers = $this->servers($kind);
        for ($round = 1; $round <= $this->rounds; $round++) {
            foreach ($servers as $name => $command) {
                progress("$kind server, round $round of $this->rounds, $name");
                $got = $this->underLoad($command, $kind, $name, $this->quick ? 1 : ($kind === 'echo' ? 2 : 3));
                if ($got === null) {
                    unset($servers[$name]); // it will not do better next time
                } elseif ($name === 'c') {
                    $rows['c']->samples['plain'][] = $got['cpu'];
                } else {
                    $rows['cpu']->samples[$name][] = $got['cpu'];
                    $rows['rate']->samples[$name][] = $got['rate'];
                }
            }
        }
        if (isset($rows['c'])) {
            $rows['c']->samples['spindle'] = $rows['cpu']->samples['spindle'];
        }
        $this->callsPerRequest($rows['calls'], $servers, $kind);
        return array_values($rows);
    }

    /** @return array<string, list<string>> commands by name */
    private function servers(string $kind): array
    {
        $servers = [];
        // Only Spindle has the server of handlers: it is compared with C alone.
        $sides = array_filter(['spindle', 'plain'], fn(string $side): bool => $side === 'spindle' ? $this->withSpindle : $kind !== 'handler');
        foreach ($sides as $side) {
            $file = ['http' => 'server', 'handler' => 'server', 'echo' => 'server', 'tasks' => 'task-server'][$kind] ?? 'loops';
            $servers[$side] = [...$this->machine->php($side), dirname(__DIR__) . "/suite/$file.php", $side, $kind];
        }
        if (!in_array($kind, ['http', 'handler', 'echo'], true)) {
            return $servers; // that of C speaks neither, or keeps connections
        }
        $c = $this->machine->compiled('epoll');
        if ($c === null) {
            $this->notes[] = "$kind: no C server to compare with, there is no working `cc` here.";
        } else {
            $servers['c'] = [$c, $kind === 'handler' ? 'http' : $kind];
        }
        return $servers;
    }

    /** @return ?array{cpu: float, rate: float} µs of CPU per request, requests per second */
    private function underLoad(array $command, string $kind, string $name, int $seconds): ?array
    {
        return $this->with($command, "$kind server ($name)", function (int $port, int $pid) use ($kind, $seconds): ?array {
            $cpu = $this->machine->cpuSeconds($pid);
            $start = hrtime(true);
            $requests = $this->load($port, $kind, $seconds);
            return $requests === null ? null : [
                'cpu' => 1e6 * ($this->machine->cpuSeconds($pid) - $cpu) / $requests,
                'rate' => 1e9 * $requests / (hrtime(true) - $start),
            ];
        });
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
                    ? $this->counted($port, $pid, $kind) : (array_sum($this->traced($port, $pid, $kind) ?? []) ?: null));
                if ($calls !== null) {
                    $row->samples[$name][] = $calls;
                }
            }
        }
        foreach ($this->verbose && $canTrace ? $servers : [] as $name => $command) {
            $calls = $this->with($command, "$kind server ($name)", fn(int $port, int $pid): ?array => $this->traced($port, $pid, $kind)) ?? [];
            arsort($calls);
            $this->notes[] = "$kind ($name), system calls per request: " . implode(', ', array_map(
                static fn(string $call): string => sprintf('%s %.3f', $call, $calls[$call]), array_slice(array_keys($calls), 0, 8)));
        }
    }
    /** By `perf`: a counter in the kernel, which hardly slows the server. */
    private function counted(int $port, int $pid, string $kind): ?float
    {
        $file = $this->machine->scratch() . '/perf';
        $requests = $this->load($port, $kind, 1,
            ['perf', 'stat', '-x,', '-o', $file, '-e', 'raw_syscalls:sys_enter', '-p', (string) $pid, '--']);
        return $requests !== null && preg_match('/^(\d+),.*raw_syscalls:sys_enter/m', (string) file_get_contents($file), $m)
            ? $m[1] / $requests : null;
    }

    /**
     * By `strace`: knows the names, and stops the server at each call.
     *
     * @return ?array<string, float> calls of each name per request
     */
    private function traced(int $port, int $pid, string $kind): ?array
    {
        $file = $this->machine->scratch() . '/strace';
        $strace = $this->machine->start(['strace', '-c', '-f', '-o', $file, '-p', (string) $pid]);
        usleep(300_000); // it attaches
        $requests = $this->load($port, $kind, 1);
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
        return in_array($kind, ['http', 'handler', 'tasks'], true);
    }

    /** @return ?int requests answered */
    private function load(int $port, string $kind, int $seconds, array $wrapper = []): ?int
    {
        $connections = self::CONNECTIONS[$kind];
        $client = self::speaksHttp($kind)
            ? ['wrk', '-t1', "-c$connections", "-d{$seconds}s", "http://127.0.0.1:$port/"]
            : [$this->machine->compiled('load'), (string) $port, (string) $connections, (string) $seconds];
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
        $server = $this->machine->start([...$this->machine->onCpu(0), ...$command]);
        $line = trim((string) fgets($server->out));
        $result = preg_match('/^(\d+) (\d+)$/', $line, $m) ? $do((int) $m[1], (int) $m[2]) : null;
        $this->machine->stop($server, 15);
        if ($result === null) {
            $this->machine->failures[] = "$what: " . ($server->errors() ?: ($m ? 'no figure' : 'did not start'));
        }
        return $result;
    }
}
