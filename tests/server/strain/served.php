<?php
/*
 * Two commands `spindle serve --workers 2` under everything at once: one whose file handles requests, one with instances of an application.
 * Rounds without kills, in which nothing may fail, alternate with workers that are killed.
 */

declare(strict_types=1);

namespace ServerTests;

/** A command that serves, and is told to stop at the end. */
final class Command
{
    private $process;
    public readonly int $pid;
    public readonly string $address;
    /** All processes that were seen to be its, and when each began: another one may have its number later. */
    public array $seen = [];

    public function __construct(public readonly string $name, string ...$arguments)
    {
        $command = [dirname(EXTENSION) . '/spindle', 'serve', '--php', PHP_BINARY, '--extension', EXTENSION, '--listen', '127.0.0.1:0', '--workers', '2', '--grace', '20',
            '--admin', 'unix:' . WORK . "/$name.sock", '--log-file', "$name.log", ...$arguments];
        $this->process = proc_open($command, [['file', '/dev/null', 'r'], ['file', '/dev/null', 'w'], ['file', WORK . "/$name.err", 'w']], $pipes, WORK);
        $this->pid = proc_get_status($this->process)['pid'];
        until(function () use (&$found) { return preg_match('~ at http://([^/]+)/~', $this->said(), $found); });
        $this->address = $found[1];
    }

    public function said(): string
    {
        return file_get_contents(WORK . "/$this->name.err");
    }

    public function status(): array
    {
        $status = json_decode((string) shell_exec('curl -s --max-time 60 --unix-socket ' . WORK . "/$this->name.sock http://localhost/status"), true) ?? throw new \Exception('no status: ' . $this->said());
        foreach ([...$status['workers'], ...$status['programs']] as $process) {
            isset($process['pid']) && $this->seen[$process['pid']] ??= self::begin($process['pid']);
        }
        return $status;
    }

    private static function begin(int $pid): ?string
    {
        return explode(' ', substr((string) strrchr((string) @file_get_contents("/proc/$pid/stat"), ')'), 2))[19] ?? null;
    }

    /** @return list<int> those that were seen, and are still there */
    public function left(): array
    {
        return array_keys(array_filter($this->seen, fn($begin, $pid) => $begin !== null && self::begin($pid) === $begin, ARRAY_FILTER_USE_BOTH));
    }

    /** @return list<int> those that serve, when there are two */
    public function workers(): array
    {
        until(function () use (&$serving) {
            $serving = array_column(array_filter($this->status()['workers'], fn($worker) => $worker['stage'] === 'serving'), 'pid');
            return count($serving) === 2;
        });
        return array_values($serving);
    }

    public function metric(string $name): float
    {
        preg_match("~^$name (\S+)$~m", (string) shell_exec('curl -s --max-time 60 --unix-socket ' . WORK . "/$this->name.sock http://localhost/metrics"), $found);
        return (float) ($found[1] ?? 0); // one with labels is there when it has happened
    }

    public function reload(string $option = ''): void
    {
        exec(dirname(EXTENSION) . "/spindle reload $option " . WORK . "/$this->name.sock 2>&1", $lines, $status);
        same([0, ''], [$status, implode("\n", $lines)]);
    }

    /** One of its workers has 4 MiB more from now on. */
    public function leak(): void
    {
        $said = shell_exec("curl -s --max-time 60 http://$this->address/leak");
        $said === 'leaked' || throw new \Exception("$this->name: $said: " . $this->said());
    }

    /** What the command itself has. */
    public function usage(): array
    {
        preg_match('/^RssAnon:\s*(\d+)/m', file_get_contents("/proc/$this->pid/status"), $found);
        return ['KiB' => (int) $found[1], 'descriptors' => count(scandir("/proc/$this->pid/fd")) - 2];
    }

    /** Returns its status. */
    public function end(): int
    {
        $this->status();
        proc_terminate($this->process, SIGTERM);
        until(function () use (&$status) { return !($status = proc_get_status($this->process))['running']; });
        return $status['signaled'] ? 128 + $status['termsig'] : $status['exitcode'];
    }

    public function __destruct()
    {
        proc_terminate($this->process, SIGTERM);
    }
}

/** Writes what is served, and what runs beside it. */
function served(): void
{
    file_put_contents(WORK . '/handler.php', <<<'PHP'
        <?php
        use Async\Http\{Request, Response, Topic};
        return function (Request $r) {
            if ($r->isWebSocket()) {
                foreach ($socket = $r->upgrade() as $message) $socket->send($message);
                return null;
            }
            switch ($r->path()) {
                case '/upload': for ($n = 0; ($piece = $r->read()) !== null; $n += strlen($piece)); return "$n";
                case '/events': return Response::events((function () { for ($i = 0; $i < 20; $i++) { Async\delay(100); yield "event $i"; } })());
                case '/wait': sleep(60);
                case '/publish': (new Topic('all'))->publish(str_repeat('x', 1000)); return 'published';
                case '/topic': return Response::events((function () {
                    $n = 0;
                    foreach ((new Topic('all'))->subscribe() as $message) { yield strlen($message); if (++$n === 5) return; }
                })());
                case '/leak': $GLOBALS['leaked'][] = str_repeat('x', 4 << 20); return 'leaked';
            }
            return (string) getmypid();
        };
        PHP);
    file_put_contents(WORK . '/application.php', <<<'PHP'
        <?php
        return function (int $instance) {
            return function () use ($instance) {
                static $requests = 0, $leaked = [];
                $requests++;
                switch (strtok($_SERVER['REQUEST_URI'], '?')) {
                    case '/upload': echo strlen(file_get_contents('php://input')); return;
                    case '/events': for ($i = 0; $i < 20; $i++) { usleep(100_000); echo "data: event $i\n\n"; flush(); } return;
                    case '/wait': usleep(200_000); return; // it runs on when its client has left
                    case '/leak': $leaked[] = str_repeat('x', 4 << 20); echo 'leaked'; return;
                }
                usleep(1000);
                echo getmypid();
            };
        };
        PHP);
    file_put_contents(WORK . '/queue.php', '<?php for ($i = mt_rand(100, 300); $i > 0; $i--) { file_put_contents(__DIR__ . "/jobs", "x", FILE_APPEND | LOCK_EX); usleep(20_000); }');
}

$cases['all at once, for minutes, behind spindle serve'] = function (): string {
    served();
    $common = ['--max-requests', '20000', '--max-memory', '60M', '--stuck-timeout', '60', '--run', 'queue*2=' . PHP_BINARY . ' -n queue.php'];
    $commands = [new Command('handler', ...$common, ...['handler.php']), new Command('application', '--mode', 'application', '--instances', '16', '--set', 'queue_timeout=60', ...$common, ...['application.php'])];
    $clients = [];
    foreach ($commands as $i => $command) {
        $command->workers();
        // The question's own connection is closed a little later.
        until(function () use ($command, &$before, &$idle, $i) {
            [$before, $idle[$i]] = [$idle[$i] ?? 0, $command->usage()['descriptors']];
            return $before === $idle[$i];
        });
        $clients[] = proc_open(['/usr/bin/python3', HERE . '/strain/served-client.py', $command->address, $command->name], [['pipe', 'r'], ['file', WORK . "/$command->name.clients", 'w'], ['file', WORK . "/$command->name.clients-errors", 'w']], $pipes[]);
    }
    $load = function (int $seconds) use ($commands): array {
        $loads = [];
        foreach ($commands as $command) {
            $loads[] = popen("wrk --timeout 60s -t1 -c8 -d{$seconds}s http://$command->address/ 2>&1", 'r');
            $loads[] = popen("wrk --timeout 60s -t1 -c4 -d{$seconds}s -H 'Connection: close' http://$command->address/ 2>&1", 'r');
            // Connections of few requests: h2load opens no further ones in the place of those that the server closes.
            $loads[] = popen("for i in $(seq 20); do h2load -n 20 -c 4 -m 5 http://$command->address/ 2>&1 | grep '^requests:'; done", 'r');
        }
        return $loads;
    };
    $killing = $usage = [];
    $answered = $rounds = $kills = 0;
    for ($end = microtime(true) + MINUTES * 60; $rounds < 2 || microtime(true) < $end; $rounds++) {
        // Reloads and limits beside all of the clients.
        $loads = $load(8);
        foreach ($commands as $command) {
            $command->reload();
            $command->reload('--binary');
            for ($i = 0; $i < 40; $i++) {
                $command->leak();
            }
        }
        foreach ($loads as $i => $running) {
            $told = stream_get_contents($running);
            if ($i % 3 === 2) {
                same(20, substr_count($told, '20 succeeded, 0 failed, 0 errored, 0 timeout') ?: $told);
            } else {
                preg_match('~(\d+) requests in~', $told, $found) && !preg_match('~Socket errors|Non-2xx~', $told) || throw new \Exception("$told: " . $commands[intdiv($i, 3)]->said());
                $answered += (int) $found[1];
            }
        }
        // Workers that are killed, each with its own requests.
        $killing[] = [microtime(true), INF];
        $loads = $load(2);
        foreach ($commands as $command) {
            $victim = $command->workers()[mt_rand(0, 1)];
            posix_kill($victim, SIGKILL);
            $kills++;
            until(fn() => !in_array($victim, $command->workers(), true));
        }
        array_map(stream_get_contents(...), $loads);
        $killing[array_key_last($killing)][1] = microtime(true) + 1;
        $usage[] = array_map(fn($command) => $command->usage(), $commands);
    }
    $told = '';
    foreach ($commands as $i => $command) {
        fclose($pipes[$i][0]);
        proc_close($clients[$i]);
        $lines = file(WORK . "/$command->name.clients", FILE_IGNORE_NEW_LINES);
        $counts = json_decode((string) array_pop($lines), true) ?? throw new \Exception('the clients: ' . file_get_contents(WORK . "/$command->name.clients-errors"));
        foreach ($lines as $line) {
            [$at, $what] = explode(' ', $line, 2);
            array_filter($killing, fn($between) => $between[0] <= (float) $at && (float) $at <= $between[1]) || throw new \Exception("$command->name, at $at, when no worker was killed (" . json_encode($killing) . "): $what; " . substr($command->said(), -3000));
        }
        foreach ($counts as $what => $count) $count > 0 || throw new \Exception("$command->name: no $what");
        // What the command has after its first rounds is what it has at the end.
        [$first, $last] = [$usage[intdiv(count($usage), 3)][$i], $usage[array_key_last($usage)][$i]];
        $last['KiB'] - $first['KiB'] <= 2048 || throw new \Exception("the command has grown: " . json_encode(array_column($usage, $i)));
        // Under load, workers may have reached --max-requests before they were seen to leak.
        until(function () use ($command) {
            return $command->metric('spindle_worker_restarts_total{why="max-memory"}') > 0 || $command->leak();
        });
        // Idle workers have no connections, and programs run.
        until(fn() => $command->metric('spindle_programs{program="queue"}') === 2.0);
        until(fn() => array_sum(array_column($command->status()['workers'], 'connections')) === 0 && count($command->status()['workers']) === 2);
        $descriptors = array_map(fn($pid) => count(scandir("/proc/$pid/fd")) - 2, $command->workers());
        max($descriptors) <= 40 || throw new \Exception('descriptors of workers: ' . json_encode($descriptors));
        until(fn() => $command->usage()['descriptors'] === $idle[$i]);
        $restarts = array_map(fn($why) => (int) $command->metric("spindle_worker_restarts_total{why=\"$why\"}"), ['ended' => 'ended', 'max-memory' => 'max-memory']);
        min($restarts) > 0 || throw new \Exception("$command->name: " . json_encode($restarts));
        $failed = (int) $command->metric('spindle_reloads_total{result="failed"}');
        same(0, $failed);
        same(0, $command->end());
        same([], $command->left());
        same(0, substr_count($command->said(), 'is killed'));
        $told .= "; $command->name: " . json_encode($counts) . ', ' . count($lines) . ' lost with killed workers, ' . json_encode($restarts) . ', ' . json_encode($last);
    }
    filesize(WORK . '/jobs') > 100 || throw new \Exception('no jobs were done');
    return "$rounds rounds, $kills kills, $answered requests of wrk$told";
};
