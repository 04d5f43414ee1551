<?php
/*
 * What the cases under strain have in common.
 */

declare(strict_types=1);

namespace ServerTests;

/** A running server. */
final class App
{
    private $process;
    private $pipes;
    public readonly string $address;
    public readonly int $pid;

    /** @param list<string> $settings of PHP */
    public function __construct(string $script, array $arguments, array $settings = [])
    {
        $command = [...php(...$settings), HERE . "/$script.php", ...$arguments];
        $this->process = proc_open($command, [['pipe', 'r'], ['pipe', 'w'], ['file', WORK . '/stderr', 'a']], $this->pipes, WORK);
        [$this->address] = explode(' ', trim((string) fgets($this->pipes[1]))) + [''];
        $this->address !== '' || \Runner\fail('the server does not start: ' . file_get_contents(WORK . '/stderr'));
        $this->pid = proc_get_status($this->process)['pid'];
    }

    public static function of(array $options = []): self
    {
        return new self('strain', [json_encode($options)]);
    }

    /** Runs clients against it. */
    public function clients(string $what, int ...$arguments): array
    {
        exec(implode(' ', array_map(escapeshellarg(...), ['timeout', '600', ...php(), HERE . '/strain-client.php', $this->address, $what, ...array_map(strval(...), $arguments)])) . ' 2>&1', $lines, $status);
        return json_decode(implode("\n", $lines), true) ?? throw new \Exception("the clients: status $status: " . substr(implode("\n", $lines), 0, 1000) . file_get_contents(WORK . '/stderr'));
    }

    public function stats(): array
    {
        return json_decode((string) shell_exec("curl -s --max-time 60 http://$this->address/stats"), true) ?? throw new \Exception('no stats: ' . file_get_contents(WORK . '/stderr'));
    }

    /** A figure in KiB: VmRSS, or VmHWM. */
    public function memory(string $which): int
    {
        preg_match("/^$which:\s*(\d+)/m", file_get_contents("/proc/$this->pid/status"), $found);
        return (int) $found[1];
    }

    /** Returns by how many KiB it is larger than now at most while something is done. */
    public function growth(callable $what): int
    {
        file_put_contents("/proc/$this->pid/clear_refs", '5'); // the peak begins anew
        $before = $this->memory('VmRSS');
        $what();
        return $this->memory('VmHWM') - $before;
    }

    /** Ends it, and returns what it prints then. */
    public function rest(): string
    {
        proc_terminate($this->process, SIGTERM);
        $rest = stream_get_contents($this->pipes[1]);
        $status = proc_close($this->process);
        $this->process = null;
        return trim($rest) . ($status > 0 ? " (status $status)" . file_get_contents(WORK . '/stderr') : '');
    }

    public function __destruct()
    {
        $this->process && proc_terminate($this->process, SIGKILL);
    }
}

/** @return list<string> */
function php(string ...$settings): array
{
    $command = [PHP_BINARY, '-n', '-d', 'extension=' . EXTENSION, '-d', 'display_errors=stderr', '-d', 'memory_limit=-1'];
    foreach ($settings as $setting) {
        array_push($command, '-d', $setting);
    }
    return $command;
}

function same(mixed $expected, mixed $found): void
{
    $expected === $found || throw new \Exception('expected ' . var_export($expected, true) . ', found ' . var_export($found, true) . \Runner\place());
}

/** What must hold with --long, and else is only told. */
function limit(bool $holds, string $what): void
{
    $holds || !LONG || throw new \Exception($what);
}

function until(callable $condition): void
{
    for ($start = microtime(true); !$condition(); usleep(10_000)) {
        microtime(true) < $start + 60 || throw new \Exception('it does not come' . \Runner\place());
    }
}
