<?php
/**
 * Processes and what this machine has: the only place that starts anything.
 */

/** A process under way. Its standard error goes to a file, so that nobody has to read along. */
final class Process
{
    /** Where its output comes from. */
    public $out;
    private $handle;

    public function __construct(array $command, private readonly string $errors)
    {
        $this->handle = proc_open(array_map('strval', $command),
            [['file', '/dev/null', 'r'], ['pipe', 'w'], ['file', $errors, 'w']], $pipes);
        $this->out = $pipes[1];
    }

    public function signal(int $signal): void
    {
        proc_terminate($this->handle, $signal);
    }

    /** Waits for its end. */
    public function end(): int
    {
        return proc_close($this->handle);
    }

    public function errors(): string
    {
        return trim((string) file_get_contents($this->errors));
    }
}

final class Machine
{
    /** No benchmark takes half of it. */
    private const TIMEOUT = ['timeout', '--foreground', '-k', '1', '60'];

    public readonly string $php;
    public readonly bool $pinned;
    /** What went wrong, for the end of the report. */
    public array $failures = [];
    /** What was left out, for the same place. */
    public array $notes = [];

    private ?string $scratch = null;
    /** @var array<int, Process> to end with us */
    private array $running = [];
    /** @var array<string, ?string> */
    private array $compiled = [];

    public function __construct(private readonly ?string $ext)
    {
        $this->php = getenv('PHP') ?: PHP_BINARY;
        $this->pinned = $this->has('taskset') && $this->processors() >= 2;
        register_shutdown_function($this->cleanUp(...));
    }

    /**
     * A php without the ini files and modules of this machine; on the Spindle side, with the one module, and another.
     *
     * @param list<string> $settings `NAME=VALUE`
     */
    public function php(string $side, ?string $module = null, array $settings = []): array
    {
        $ext = $side === 'spindle' ? ['-d', "extension=$this->ext"] : [];
        if ($module !== null) {
            array_push($ext, '-d', "extension=$module");
        }
        foreach (['opcache.enable_cli=0', 'memory_limit=-1', 'display_errors=stderr', ...$settings] as $setting) {
            array_push($ext, '-d', $setting);
        }
        return [$this->php, '-n', ...$ext];
    }

    /** Prefix that keeps a command on one processor: servers run on 0, all else on 1. */
    public function onCpu(int $cpu): array
    {
        return $this->pinned ? ['taskset', '-c', (string) $cpu] : [];
    }

    public function start(array $command): Process
    {
        static $count = 0;
        $process = new Process([...self::TIMEOUT, ...$command], $this->scratch() . '/stderr-' . $count++);
        return $this->running[spl_object_id($process)] = $process;
    }

    /** Ends a process, by a signal where one is given, and gives its status. */
    public function stop(Process $process, ?int $signal = null): int
    {
        if ($signal !== null) {
            $process->signal($signal);
        }
        unset($this->running[spl_object_id($process)]);
        return $process->end();
    }

    /** What a command prints; null, and a failure noted, when it fails or takes longer than a minute. */
    public function output(array $command, string $what): ?string
    {
        $process = $this->start($command);
        $out = stream_get_contents($process->out);
        $status = $this->stop($process);
        if ($status === 0) {
            return $out;
        }
        $this->failures[] = "$what: status $status" . ($status === 124 ? ' (took longer than 60 s)' : '')
            . rtrim(': ' . trim($process->errors() . "\n" . $out), ': ');
        return null;
    }

    /** The binary of NAME.c next to `run`; null where there is no compiler. */
    public function compiled(string $name): ?string
    {
        return $this->cc($name, '');
    }

    /** The same, as a module for PHP; null also where PHP's headers are not there. */
    public function module(string $name): ?string
    {
        $includes = trim((string) shell_exec(escapeshellcmd(getenv('PHP_CONFIG') ?: 'php-config') . ' --includes 2>/dev/null'));
        return $includes === '' ? null : $this->cc($name, "-shared -fPIC $includes");
    }

    /** The binary of a crate next to `run`, built once; null where cargo or what it depends on cannot be had. */
    public function crate(string $name): ?string
    {
        if (!array_key_exists($name, $this->compiled)) {
            $target = dirname(__DIR__, 2) . "/target/bench-$name";
            progress("building $name");
            exec('cargo build --quiet --release --locked --target-dir ' . escapeshellarg($target)
                . ' --manifest-path ' . escapeshellarg(dirname(__DIR__) . "/$name/Cargo.toml") . ' 2>&1', $out, $status);
            $this->compiled[$name] = $status === 0 ? "$target/release/bench-$name" : null;
        }
        return $this->compiled[$name];
    }

    private function cc(string $name, string $options): ?string
    {
        if (!array_key_exists($name, $this->compiled)) {
            $target = $this->scratch() . "/$name" . ($options === '' ? '' : '.so');
            $files = escapeshellarg($target) . ' ' . escapeshellarg(dirname(__DIR__) . "/$name.c");
            exec("cc -O2 $options -o $files 2>&1", $out, $status);
            $this->compiled[$name] = $status === 0 ? $target : null;
        }
        return $this->compiled[$name];
    }

    /** A directory for the run, gone at its end. */
    public function scratch(): string
    {
        if ($this->scratch === null) {
            $this->scratch = sys_get_temp_dir() . '/spindle-bench-' . getmypid();
            mkdir($this->scratch, 0700);
            putenv("TMPDIR=$this->scratch"); // what a benchmark that crashes leaves behind is here too
        }
        return $this->scratch;
    }

    public function has(string $command): bool
    {
        return trim((string) shell_exec('command -v ' . escapeshellarg($command))) !== '';
    }

    public function processors(): int
    {
        return (int) shell_exec('nproc');
    }

    /** Seconds of CPU, user and system, that a process has used with all its threads. */
    public function cpuSeconds(int $pid): float
    {
        static $perSecond;
        $perSecond ??= (int) shell_exec('getconf CLK_TCK') ?: 100;
        $stat = (string) file_get_contents("/proc/$pid/stat");
        $fields = explode(' ', substr($stat, strrpos($stat, ')') + 2)); // from the third field on
        return ($fields[11] + $fields[12]) / $perSecond;
    }

    public function describe(): string
    {
        $version = trim((string) shell_exec(escapeshellarg($this->php) . ' -n -r ' . escapeshellarg('echo PHP_VERSION, PHP_ZTS ? " ZTS" : " NTS";')));
        preg_match('/^model name\s*:\s*(.+)$/m', (string) @file_get_contents('/proc/cpuinfo'), $model);
        return sprintf('PHP %s, Linux %s, %d × %s%s', $version, php_uname('r'), $this->processors(),
            $model[1] ?? php_uname('m'), $this->pinned ? '' : ', not pinned');
    }

    private function cleanUp(): void
    {
        foreach ($this->running as $process) {
            $this->stop($process, 15);
        }
        if ($this->scratch !== null) {
            exec('rm -rf ' . escapeshellarg($this->scratch));
        }
    }
}
