<?php
/*
 * The harness of all that is done in coroutines and compared with stock PHP. worker.php runs a case file, which declares checks:
 *
 *   matrix($name, $work)      n copies of one work: one after another on stock PHP, all at once as coroutines
 *   scenario($name, $body)    one piece of work with an inner structure of its own
 *   check($name, $work, $make)   two flows in one call of an extension (flows.php)
 *   cancelled($name, $work)   only with coroutines: the work is cancelled in the middle
 *   after_cancellation($name, $make, $slow, $ask)   only with coroutines: the handle of a work that was cancelled
 *   with_coroutines($name, $body)   only with coroutines: anything else
 *
 * Works are plain synchronous PHP and never mention Async, so that the stock run is the reference for the answers.
 * Each check adds lines of JSON to the file MATRIX_OUT; compare.php reads those of a process on stock PHP and of one with the
 * extension.
 */
namespace Matrix;

use Async;

const TICK = 5;              // milliseconds between two ticks of the ticker
const STUCK = 200_000;       // milliseconds after which a coroutine is reported as stuck

\error_reporting(E_ALL);
\ini_set('display_errors', 'stderr');
\set_error_handler(static function (int $level, string $message): bool {
    if (\error_reporting() & $level) {
        Check::warned($message);
    }
    return true;
});

function is_async(): bool
{
    return \function_exists('Async\spawn');
}

// Without the extension all would be as on stock PHP, and right.
if (is_async() !== (bool) \getenv('MATRIX_ASYNC')) {
    \fwrite(STDERR, 'Spindle is ' . (is_async() ? "loaded on stock PHP\n" : "not loaded\n"));
    exit(97);
}

/** How long a work is to wait, in milliseconds: long with coroutines, where it is proven, short on stock PHP. */
function ms(int $async = 500): int
{
    return is_async() ? $async : \min($async, 20);
}

/** The same in seconds. */
function seconds(int $async_ms = 500): float
{
    return ms($async_ms) / 1000;
}

/** One check while it runs: what it observed and what was wrong. */
final class Check
{
    private static ?self $current = null;

    public array $problems = [];
    public array $warnings = [];     // as keys
    public array $facts = [];
    public bool $has_orders = false; // the answers are those of several orders, each of which is right

    private static array $seen = []; // as keys: checks of an earlier process, which has ended in one of them
    private static int $pid;

    /** Has every check of a case run, apart from those that an earlier process has begun. */
    public static function all(callable $case): void
    {
        self::$pid = \getmypid();
        foreach (\file(env('MATRIX_OUT')) as $line) {
            self::$seen[\json_decode($line, true)['begins'] ?? ''] = true;
        }
        $case();
        self::report(['done' => true]);
    }

    public static function run(string $name, callable $body): void
    {
        if (isset(self::$seen[$name])) {
            return;
        }
        self::report(['begins' => $name]);
        $check = self::$current = new self;
        \fwrite(STDERR, "--- $name\n");
        $answers = null;
        $start = \hrtime(true);
        try {
            $answers = $body($check);
        } catch (\Throwable $e) {
            $check->problem('threw ' . describe($e));
        }
        $check->facts += ['wall' => \round((\hrtime(true) - $start) / 1e9, 3)];
        \ksort($check->warnings);
        self::report([
            'name' => $name,
            'answers' => $answers,
            'orders' => $check->has_orders,
            'warnings' => \array_keys($check->warnings),
            'problems' => $check->problems,
            'facts' => $check->facts,
        ]);
        self::$current = null;
    }

    /** Writes a line of what is compared; not in a child that the case has forked. */
    public static function report(array $line): void
    {
        if (\getmypid() === self::$pid) {
            $json = \json_encode($line, JSON_THROW_ON_ERROR | JSON_PRESERVE_ZERO_FRACTION | JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE);
            \file_put_contents(env('MATRIX_OUT'), "$json\n", FILE_APPEND);
        }
    }

    public static function warned(string $message): void
    {
        if (self::$current === null) {
            \fwrite(STDERR, "warning: $message\n");
        } else {
            // ports and process ids differ from run to run
            self::$current->warnings[\preg_replace('/\d+/', '#', $message)] = true;
        }
    }

    public function problem(string $text): void
    {
        $this->problems[] = $text;
        \fwrite(STDERR, "problem: $text\n");
    }

    public static function current(): self
    {
        return self::$current;
    }
}

function describe(\Throwable $e): string
{
    return $e::class . ': ' . $e->getMessage() . ' at ' . \basename($e->getFile()) . ':' . $e->getLine();
}

/** An assertion inside a work or body; what it says is reported as a problem of the check. */
function expect(bool $ok, string $problem): void
{
    $ok or Check::current()->problem($problem);
}

/**
 * $work($i) for $i of 0..$n-1, compared with what stock PHP answers. With coroutines they all run at once, and
 * $evidence says what has to be seen of it:
 *
 *   'wait'    each waits $ms (by ms() or seconds()): all have started before the first ends; a ticker ticks whenever the
 *             thread sleeps, and nobody sleeps in a call and holds it up for nearly as long as one wait; and between the
 *             first end and the last lie no more than $spread seconds, counted in ticks, by default half of what lies
 *             there if one waits after another
 *   'ticks'   they wait, but may wait for each other: the ticker ticks meanwhile, no long stall
 *   'switch'  they need not wait long: at least once another one starts before one ends
 *   'none'    they may never wait at all: only the answers count
 */
function matrix(string $name, callable $work, int $n = 20, int $ms = 500, ?float $spread = null, string $evidence = 'wait'): void
{
    Check::run($name, static function (Check $check) use ($work, $n, $ms, $spread, $evidence): array {
        if (!is_async()) {
            return \array_map($work, \range(0, $n - 1));
        }
        $watch = new Watch;
        $start = \hrtime(true);
        try {
            $answers = together($n, static fn(int $i) => $watch->during($work, $i));
        } finally {
            $wall = (\hrtime(true) - $start) / 1e9;
            $watch->stop();
        }

        $check->facts = ['wall' => \round($wall, 3), 'n' => $n] + $watch->facts();
        $spread ??= \max($n - 1, 1) * $ms / 2000;
        if ($evidence === 'wait') {
            // Where others had the processor meanwhile, the first may end before the last could start.
            $watch->started_before_first_end === $n || $watch->was_preempted && $watch->started_before_first_end > $n / 2
                or $check->problem("order: only {$watch->started_before_first_end} of $n had started when the first ended");
            $passed = ($watch->ticks - $watch->ticks_at_first_end) * TICK / 1000;
            $passed <= $spread or $check->problem(\sprintf('time: %.3f s in ticks from the first end to the last, more than %.3f s', $passed, $spread));
        }
        if ($evidence === 'wait' || $evidence === 'ticks') {
            $watch->has_waited($check, \intdiv($ms, 8));
            $watch->stall <= 0.8 * $ms or $check->problem(\sprintf('stall: nothing else ran for %.0f ms', $watch->stall));
        }
        if ($evidence === 'switch') {
            $watch->started_before_first_end > 1 or $watch->overlaps > 0
                or $check->problem('switch: each one ended before another started');
        }
        return $answers;
    });
}

/**
 * $body() is one piece of work which uses beside() for its other side. With coroutines it waits for at least $waits
 * milliseconds, if that is given, and the ticker ticks meanwhile.
 */
function scenario(string $name, callable $body, int $waits = 0): void
{
    Check::run($name, static function (Check $check) use ($body, $waits): mixed {
        if (!is_async()) {
            return $body();
        }
        $watch = new Watch;
        try {
            $answer = finished(Async\spawn(static fn() => $watch->during($body)));
        } finally {
            $watch->stop();
        }
        $check->facts = $watch->facts();
        $waits === 0 or $watch->has_waited($check, $waits);
        return $answer;
    });
}

/** A check that needs coroutines; on stock PHP it is only named. */
function with_coroutines(string $name, callable $body): void
{
    if (is_async()) {
        Check::run($name, static function (Check $check) use ($body): void {
            $body($check);
        });
    } else {
        Check::report(['name' => $name, 'async' => true]);
    }
}

/** Lets others run until a coroutine was found waiting at so many turns of the event loop, or has ended. */
function in_the_middle(Async\Coroutine $coroutine, int $wanted = 20): void
{
    for ($turns = 0; $turns < $wanted && !$coroutine->isCompleted(); Async\delay(TICK)) {
        $turns += (int) $coroutine->isSuspended();
    }
}

/**
 * Cancels $call($handle) in the middle, and returns the handle, which $make() has made. Where twenty turns take longer than the
 * call, it has ended before that: then it is another one, after fewer turns, on a handle that is as new.
 */
function cut_off(Check $check, callable $make, callable $call): mixed
{
    foreach ([20, 10, 5, 2, 1] as $turns) {
        $handle = null;
        $handle = $make();
        $coroutine = Async\spawn($call, $handle);
        in_the_middle($coroutine, $turns);
        if (!$coroutine->isCompleted()) {
            break;
        }
        finished($coroutine);
    }
    $coroutine->cancel();
    try {
        finished($coroutine);
        $check->problem('it was not cancelled');
    } catch (Async\CancellationException) {
    }
    return $handle;
}

/**
 * $work() blocks for long. It is cancelled in the middle: the cancellation is thrown out of it within $within
 * seconds, no descriptor is left, and $fresh(), the same thing in short, gives what it gave before.
 */
function cancelled(string $name, callable $work, ?callable $fresh = null, float $within = 60.0): void
{
    with_coroutines($name, static function (Check $check) use ($work, $fresh, $within): void {
        $before = $fresh === null ? null : finished(Async\spawn($fresh));
        \gc_collect_cycles();
        $open = open_descriptors();
        $reached = false;
        $coroutine = Async\spawn(static function () use ($work, &$reached): void {
            $work();
            $reached = true;
        });
        in_the_middle($coroutine);
        $start = \hrtime(true);
        $coroutine->isCompleted() and $check->problem('it had ended before it could be cancelled');
        $coroutine->cancel();
        try {
            finished($coroutine);
            $check->problem('await threw nothing');
        } catch (Async\CancellationException) {
        }
        $took = (\hrtime(true) - $start) / 1e9;
        $check->facts['cancelled in'] = \round($took, 3);
        $took <= $within or $check->problem(\sprintf('the cancellation took %.3f s, more than %.3f s', $took, $within));
        $reached and $check->problem('the cancelled call returned to its caller');
        $check->warnings = [];
        unset($coroutine);

        if ($fresh !== null) {
            $after = finished(Async\spawn($fresh));
            $after === $before or $check->problem('afterwards ' . \json_encode($after) . ' instead of ' . \json_encode($before));
        }
        no_descriptor_left($check, $open);
    });
}

/**
 * What a handle is worth after a call on it was cancelled. $slow($handle) lasts for a second and its answers hold 'WRONG'; in
 * the middle it is cancelled. Then $ask($handle) is to answer 'right' or to fail, each time: never with what belongs to
 * the cancelled call.
 */
function after_cancellation(string $name, callable $make, callable $slow, callable $ask): void
{
    with_coroutines($name, static function (Check $check) use ($make, $slow, $ask): void {
        $handle = cut_off($check, $make, static fn(mixed $handle) => @$slow($handle));
        $answers = [];
        for ($n = 0; $n < 3; $n++) {
            try {
                $answer = finished(Async\spawn(static fn() => @$ask($handle)));
            } catch (\Exception $e) {
                $answer = $e->getMessage();
                \str_contains($answer, 'WRONG') and $check->problem("the failure has another's answer: $answer");
                $answer = false;
            }
            $answer === 'right' || $answer === false || $answer === null
                or $check->problem("call $n got " . \json_encode($answer, JSON_PARTIAL_OUTPUT_ON_ERROR));
            $answers[] = $answer === 'right' ? 'right' : 'fails';
        }
        $check->facts = ['then it' => \implode(', ', $answers)];
        $check->warnings = [];
    });
}

/** Open descriptors of this process: number => what it is. */
function open_descriptors(): array
{
    $open = [];
    foreach (\scandir('/proc/self/fd') as $fd) {
        $target = @\readlink("/proc/self/fd/$fd");
        if ($target !== false && !\str_starts_with($target, '/proc/')) {
            $open[$fd] = $target;
        }
    }
    return $open;
}

/** Waits a little for work that finishes behind the scenes; what is open then and was not in $before is a problem. */
function no_descriptor_left(Check $check, array $before): void
{
    \gc_collect_cycles();
    for ($try = 0; $try < 3000 && \count(open_descriptors()) > \count($before); $try++) {
        Async\delay(20);
    }
    $left = \array_diff_assoc(open_descriptors(), $before);
    if (\count(open_descriptors()) > \count($before)) {
        $check->problem('descriptors left open: ' . \json_encode($left, JSON_UNESCAPED_SLASHES));
    }
}

/** The result of a coroutine, or its failure; one that does not end is cancelled, which fails the check. */
function finished(Async\Coroutine $coroutine): mixed
{
    try {
        return Async\await($coroutine, Async\timeout(STUCK));
    } catch (Async\AwaitCancelledException) {
        $info = \json_encode($coroutine->getAwaitingInfo(), JSON_PARTIAL_OUTPUT_ON_ERROR);
        $where = $coroutine->getSuspendLocation();
        $coroutine->cancel();
        throw new \RuntimeException('a coroutine did not end in ' . STUCK / 1000 . " s; it is suspended at $where, awaiting $info");
    }
}

/**
 * The results of $n coroutines that run at once. When one fails, that is the failure, and the others are ended: nothing of
 * them disturbs the checks that follow.
 */
function together(int $n, callable $work): array
{
    $coroutines = [];
    for ($i = 0; $i < $n; $i++) {
        $coroutines[] = Async\spawn($work, $i);
    }
    try {
        return \array_map(finished(...), $coroutines);
    } catch (\Throwable $failure) {
        foreach ($coroutines as $coroutine) {
            $coroutine->cancel();
        }
        foreach ($coroutines as $coroutine) {
            try {
                finished($coroutine);
            } catch (\Throwable) {
            }
        }
        throw $failure;
    }
}

/**
 * The other side of a conversation, beside the caller: a process of its own on stock PHP, a coroutine otherwise.
 * Returns a function that waits for it and returns its result.
 */
function beside(callable $other): callable
{
    if (is_async()) {
        $coroutine = Async\spawn($other);
        return static fn() => finished($coroutine);
    }
    [$ours, $theirs] = \stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    $pid = \pcntl_fork();
    if ($pid === 0) {
        try {
            $result = ['result', $other()];
        } catch (\Throwable $e) {
            $result = ['failure', describe($e)];
        }
        \fwrite($theirs, \serialize($result));
        \posix_kill(\getmypid(), SIGKILL); // no destructor may say goodbye on a connection of the parent's
    }
    \fclose($theirs);
    return static function () use ($ours, $pid): mixed {
        [$kind, $result] = \unserialize(\stream_get_contents($ours));
        \pcntl_waitpid($pid, $status);
        return $kind === 'result' ? $result : throw new \RuntimeException("the other side: $result");
    };
}

/** Sees what happens while works run: a coroutine that ticks, and the order of starts and ends. */
final class Watch
{
    public int $ticks = 0;
    public int $ticks_at_first_end = 0;
    public float $stall = 0;                    // milliseconds, the longest sleep without a tick
    private float $slept = 0;                   // milliseconds, of all sleeps
    private float $ran = 0;                     // milliseconds in which a work was in the middle
    private float $since = 0;
    public int $started_before_first_end = 0;
    public int $overlaps = 0;                   // starts while another one was in the middle
    public bool $was_preempted = false;         // before the first end

    private int $running = 0;
    private bool $ended = false;
    private bool $stopped = false;
    private array $last;
    private ?array $first = null;
    private Async\Coroutine $ticker;

    public function __construct()
    {
        $this->last = self::now();
        $this->ticker = Async\spawn(function (): void {
            while (!$this->stopped) {
                Async\delay(TICK);
                if ($this->running > 0) {
                    $this->ticks++;
                    $this->look();
                }
            }
        });
    }

    public function during(callable $work, mixed ...$arguments): mixed
    {
        if ($this->running++ > 0) {
            $this->overlaps++;
        } else {
            $this->since = \hrtime(true) / 1e6;
            $this->last = self::now();
            $this->first ??= $this->last;
        }
        $this->started_before_first_end += $this->ended ? 0 : 1;
        try {
            return $work(...$arguments);
        } finally {
            if (!$this->ended) {
                $this->ended = true;
                $this->ticks_at_first_end = $this->ticks;
                // Another one may still be reading what was before it.
                $this->was_preempted = self::now()[2] > ($this->first ?? $this->last)[2];
            }
            if (--$this->running === 0) {
                $this->look();
                $this->ran += \hrtime(true) / 1e6 - $this->since;
            }
        }
    }

    private function look(): void
    {
        [$before, $slept_before, $lost_before] = $this->last;
        [$now, $slept, $lost] = $this->last = self::now();
        // Who was never suspended has not slept; and of how long one was ready that lost the processor, the kernel knows a part.
        if ($slept > $slept_before && $lost === $lost_before) {
            $this->stall = \max($this->stall, $now - $before);
            $this->slept += $now - $before;
        }
    }

    /**
     * The works took as long as they have to; and where the thread slept, it was for the ticker: for no more than some ticks'
     * time at each of them. A machine with other work gives the thread fewer turns, and then it sleeps less as well.
     */
    public function has_waited(Check $check, int $least): void
    {
        $this->ran >= $least or $check->problem(\sprintf('ended: after %.0f ms, and they wait for more than %d', $this->ran, $least));
        ($this->ticks + 1) * TICK * 8 >= $this->slept
            or $check->problem(\sprintf('ticks: %d while the thread slept for %.0f ms', $this->ticks, $this->slept));
        $this->ticks > 0 or $check->problem('nothing else has run');
    }

    /**
     * Milliseconds that this thread has slept: without those in which it computed, or was ready to and others had the processor. How
     * often it has given up the processor to sleep, and how often it has lost it to others.
     */
    private static function now(): array
    {
        [$computed, $ready] = \explode(' ', (string) @\file_get_contents('/proc/thread-self/schedstat')) + [0, 0];
        \preg_match_all('/ctxt_switches:\s*(\d+)/', (string) @\file_get_contents('/proc/thread-self/status'), $switches);
        return [(\hrtime(true) - (int) $computed - (int) $ready) / 1e6, (int) ($switches[1][0] ?? \hrtime(true)), (int) ($switches[1][1] ?? 0)];
    }

    public function stop(): void
    {
        $this->stopped = true;
        Async\await($this->ticker);
    }

    public function facts(): array
    {
        return ['ticks' => $this->ticks, 'stall' => \round($this->stall)];
    }
}

// --- where the servers are ---------------------------------------------------------------------------------------------

function env(string $name): string
{
    $value = \getenv($name);
    return $value !== false ? $value : throw new \RuntimeException("$name is not set; start the suite by its 'run'");
}

/** A name for tables, keys and files which no other check and no earlier run has. */
function unique(string $prefix = 'matrix'): string
{
    static $count = 0;
    return $prefix . '_' . \getmypid() . '_' . ++$count;
}

/** A path for a scratch file, in a folder of this process. */
function scratch(string $name = 'file', string $suffix = ''): string
{
    return env('MATRIX_TMP') . '/' . unique($name) . $suffix;
}

function http(string $path): string
{
    return 'http://127.0.0.1:' . env('MATRIX_HTTP_PORT') . $path;
}

function https(string $path): string
{
    return 'https://localhost:' . env('MATRIX_HTTPS_PORT') . $path;
}

function pdo_pgsql(): \PDO
{
    return new \PDO(env('SPINDLE_PG_DSN'));
}

function pdo_mysql(array $options = []): \PDO
{
    return new \PDO(env('SPINDLE_MYSQL_DSN'), env('SPINDLE_MYSQL_USER'), env('SPINDLE_MYSQL_PASSWORD'), $options);
}

function mysqli(?string $socket = null): \mysqli
{
    return new \mysqli(
        $socket === null ? env('SPINDLE_MYSQL_HOST') : 'localhost', env('SPINDLE_MYSQL_USER'),
        env('SPINDLE_MYSQL_PASSWORD'), env('SPINDLE_MYSQL_DB'), (int) env('SPINDLE_MYSQL_PORT'), $socket);
}

function redis(): \Redis
{
    $redis = new \Redis;
    $redis->connect(env('SPINDLE_REDIS_HOST'), (int) env('SPINDLE_REDIS_PORT'));
    return $redis;
}

function curl(string $url, array $options = []): \CurlHandle
{
    $curl = \curl_init($url);
    // $options last: what is written to a file or a callback is not returned
    \curl_setopt_array($curl, \array_replace([CURLOPT_RETURNTRANSFER => true, CURLOPT_CAINFO => env('MATRIX_CERT')], $options));
    return $curl;
}

/** A connection to the line server: a line "MS TEXT" is answered by "TEXT" after MS milliseconds. */
function line_client(string $transport)
{
    $address = match ($transport) {
        'tcp' => 'tcp://127.0.0.1:' . env('MATRIX_LINE_PORT'),
        'tls' => 'tls://localhost:' . env('MATRIX_TLS_PORT'),
        'unix' => 'unix://' . env('MATRIX_LINE_SOCKET'),
    };
    $context = \stream_context_create(['ssl' => ['cafile' => env('MATRIX_CERT')]]);
    return \stream_socket_client($address, $code, $message, 10, STREAM_CLIENT_CONNECT, $context);
}

/** The port of a proxy in front of a server: what the server says arrives $ms milliseconds late. */
function slowed(string|int $port, int $ms = 20): int
{
    \fwrite($line = line_client('tcp'), "proxy $ms $port\n");
    return (int) \fgets($line);
}

/** A TCP listener that accepts nothing and whose backlog is full: to connect to it is to wait. */
final class FullListener
{
    public readonly string $address;
    private array $streams = [];

    public function __construct()
    {
        $context = \stream_context_create(['socket' => ['backlog' => 1]]);
        $server = $this->streams[] = \stream_socket_server('tcp://127.0.0.1:0', $code, $message, STREAM_SERVER_BIND | STREAM_SERVER_LISTEN, $context);
        $this->address = 'tcp://' . \stream_socket_get_name($server, false);
        for ($n = 0; $n < 4; $n++) {
            $this->streams[] = \stream_socket_client($this->address, $code, $message, 0, STREAM_CLIENT_CONNECT | STREAM_CLIENT_ASYNC_CONNECT);
        }
    }
}
