<?php
/*
 * The checks of what a suspended call uses, and what their callbacks are made of.
 *
 *   check($name, $work, $make, ...)
 *
 * `$work($object, $n)` is what each of two flows does (`$n` is 1 and 2), `$make()` makes what it does that with. It is done
 * with one object for both and with an object for each; without `$make` there is none. On stock PHP the flows run one after
 * the other, in both orders; with Spindle they are two coroutines. Their results, and what `$after($object)` says of an
 * object that both have used, must be those of one of the orders.
 *
 * A flow that nobody interrupts proves nothing, so it has to be seen suspended inside of the extension, below a call of one
 * of its functions, while the other flow is in the middle of its own work. Callbacks that are to be suspended call `pause()`;
 * whoever waits for I/O is seen by a coroutine that looks at the traces of both.
 */
namespace Matrix;

use Async;

const PATIENCE = 60_000;        // milliseconds until a flow counts as stuck

/** The two flows of a check. */
final class Flows
{
    /** @var array<int, int> flows by the numbers of their coroutines */
    public static array $of = [];
    /** @var array<int, bool> */
    public static array $begun = [];
    /** @var array<int, bool> */
    public static array $ended = [];
    public static int $inside = 0;
    public static int $pauses = 0;
    /** @var list<string> functions that one of the two must be in */
    public static array $functions = [];
    public static string $extension = '';
    public static bool $anywhere = false;

    /** Is it the trace of somebody in the middle of what is checked? */
    public static function are_inside(array $trace): bool
    {
        foreach ($trace as $frame) {
            $name = (isset($frame['class']) ? "$frame[class]::" : '') . $frame['function'];
            if (self::$functions ? \in_array(\strtolower($name), self::$functions, true) : self::extension_of($name) === self::$extension) {
                return true;
            }
        }
        return self::$anywhere;
    }

    private static function extension_of(string $function): string
    {
        static $known = [];
        return $known[$function] ??= (static function () use ($function): string {
            try {
                $reflection = \str_contains($function, '::') ? new \ReflectionMethod(...\explode('::', $function)) : new \ReflectionFunction($function);
                $extension = $reflection->isInternal() ? $reflection->getExtensionName() : false;
                if ($extension === false && $reflection->isInternal() && $reflection instanceof \ReflectionMethod) {
                    $extension = $reflection->getDeclaringClass()->getExtensionName();
                }
                return \strtolower($extension ?: '-');
            } catch (\ReflectionException) {
                return '-';
            }
        })();
    }

    public static function other_runs(int $n): bool
    {
        return isset(self::$begun[3 - $n]) && !isset(self::$ended[3 - $n]);
    }
}

/** In callbacks: lets the other flow run, at whatever it is. */
function pause(): void
{
    if (!is_async() || !($n = Flows::$of[Async\currentCoroutine()->getId()] ?? 0)) {
        return;
    }
    // The other one has all of this time for its own work, or its turn comes after this call.
    Flows::$inside += (int) (!isset(Flows::$ended[3 - $n]) && Flows::are_inside(\debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS)));
    while (!isset(Flows::$begun[3 - $n])) {
        Async\suspend();
    }
    for ($i = 1 + Flows::$pauses++ % 3; $i > 0; $i--) {
        Async\suspend();
    }
}

/**
 * @param callable(mixed, int): mixed $work
 * @param string|list<string> $in the functions that are to be seen suspended, if not any of the extension
 * @param bool $anywhere the extension's code is reached by something that is no call, an operator say
 * @param bool $apart no object of both: $make is only to make
 * @param bool $follows the second flow comes when the first one is suspended
 */
function check(string $name, callable $work, ?callable $make = null, ?callable $after = null, string|array $in = [], bool $anywhere = false, bool $apart = false, bool $follows = false): void
{
    Check::run($name, static function (Check $check) use ($work, $make, $after, $in, $anywhere, $apart, $follows): array {
        Flows::$functions = \array_map(\strtolower(...), (array) $in);
        Flows::$anywhere = $anywhere;
        $make ??= static fn() => null;
        $check->has_orders = true;
        $answers = [];
        foreach (is_async() ? [null] : [[1, 2], [2, 1]] as $order) {
            foreach ($apart ? ['two objects'] : ['one object', 'two objects'] as $objects) {
                $shared = $objects === 'one object';
                $then = $shared && $after ? $after : static fn() => null;
                $made = [1 => $object = $make(), 2 => $shared ? $object : $make()];
                unset($object);
                $answers[$objects][] = $order ? one_after_the_other($work, $made, $order, $then) : at_once($check, $objects, $work, $made, $then, $follows);
                unset($made);
            }
        }
        return $answers;
    });
}

function one_after_the_other(callable $work, array $objects, array $order, callable $after): array
{
    $results = [];
    foreach ($order as $n) {
        $results[$n] = outcome($work, $objects[$n], $n);
    }
    \ksort($results);
    return ['flows' => $results, 'after' => plain($after($objects[1]))];
}

function at_once(Check $check, string $name, callable $work, array $objects, callable $after, bool $follows): array
{
    Flows::$of = Flows::$begun = Flows::$ended = [];
    Flows::$inside = 0;
    $coroutines = [];
    foreach ([1, 2] as $n) {
        $coroutines[$n] = Async\spawn(static function () use ($work, $objects, $n, $follows): array {
            Flows::$of[Async\currentCoroutine()->getId()] = $n;
            Flows::$begun[$n] = true;
            while ($follows && $n === 2 && Flows::$inside === 0 && !isset(Flows::$ended[1])) {
                Async\suspend();
            }
            $outcome = outcome($work, $objects[$n], $n);
            while (!isset(Flows::$begun[3 - $n])) {
                Async\suspend();
            }
            Flows::$ended[$n] = true;
            return $outcome;
        });
    }
    // Sees whoever waits for something else than the other one.
    $watcher = Async\spawn(static function () use ($coroutines): void {
        $end = \hrtime(true) + PATIENCE * 1_000_000;
        while (\count(Flows::$ended) < 2) {
            foreach ($coroutines as $n => $coroutine) {
                if (isset(Flows::$begun[$n]) && Flows::other_runs($n) && $coroutine->isSuspended() && !$coroutine->isQueued()) {
                    $call = $coroutine->getAwaitingInfo()['call'] ?? '';
                    if ($call !== '' && $call !== 'locked handle' && Flows::are_inside((array) $coroutine->getTrace())) {
                        Flows::$inside++;
                    }
                }
            }
            if (\hrtime(true) > $end) {
                stuck($coroutines);
            }
            Async\suspend();
        }
    });
    $results = \array_map(Async\await(...), $coroutines);
    Async\await($watcher);
    Flows::$inside > 0 or $check->problem("$name: nobody was suspended in it");
    return ['flows' => $results, 'after' => plain($after($objects[1]))];
}

function outcome(callable $work, mixed $object, int $n): array
{
    try {
        return ['gives' => plain($work($object, $n))];
    } catch (\Throwable $e) {
        return ['throws' => \get_class($e) . ': ' . $e->getMessage()];
    }
}

/** A value as something that JSON can say exactly. */
function plain(mixed $value): mixed
{
    return match (true) {
        \is_array($value) => \array_combine(\array_map(plain(...), \array_keys($value)), \array_map(plain(...), $value)),
        \is_string($value) => \preg_match('//u', $value) ? $value : 'hex:' . \bin2hex($value),
        \is_float($value) => "float:$value",
        \is_object($value) => [\get_class($value) => plain((array) $value)],
        \is_resource($value) => \get_resource_type($value),
        default => $value,
    };
}

/** Ends the process, with a word on what the flows wait for. */
function stuck(array $coroutines): never
{
    $say = static fn($c) => $c->isCompleted() ? 'ended' : \json_encode($c->getAwaitingInfo(), JSON_PARTIAL_OUTPUT_ON_ERROR | JSON_UNESCAPED_SLASHES);
    \fwrite(STDERR, 'stuck: ' . \implode(', ', \array_map($say, $coroutines)) . "\n");
    \posix_kill(\getmypid(), SIGKILL);
    exit;
}

// --- what callbacks are made of ------------------------------------------------------------------------------------------

/** A text that takes its time. */
final class Text
{
    public function __construct(public readonly string $text) {}

    public function __toString(): string
    {
        pause();
        return $this->text;
    }
}

function text(string|int $text): Text
{
    return new Text((string) $text);
}

/** @return list<Text> */
function texts(string|int ...$texts): array
{
    return \array_map(text(...), $texts);
}

/** Compares as <=> does, and takes its time. */
function compare(mixed $a, mixed $b): int
{
    pause();
    return $a <=> $b;
}

/** Calls $what with an error handler that takes its time. Returns the result, and what the handler was told. */
function noisily(callable $what): array
{
    $messages = [];
    \set_error_handler(static function (int $level, string $message) use (&$messages): bool {
        pause();
        if (!\preg_match('/^Constant \S+ is deprecated/', $message)) { // PHP says so once for each place
            $messages[] = without_numbers($message);
        }
        return true;
    });
    try {
        $result = $what();
    } catch (\Throwable $e) {
        $result = \get_class($e) . ': ' . without_numbers($e->getMessage());
    } finally {
        \restore_error_handler();
    }
    return [$result, $messages];
}

/** A message, without the numbers of what cases have made. */
function without_numbers(string $message): string
{
    return \preg_replace('/(slow:\/\/file|OnDem.nd|127\.0\.0\.1:)\d+/', '$1', $message);
}

/** Calls $what with an output handler that takes its time at each piece of output. Returns the result, and the output. */
function printed(callable $what): array
{
    $output = '';
    \ob_start(static function (string $text) use (&$output): string {
        pause();
        $output .= $text;
        return '';
    }, 1);
    try {
        $result = $what();
    } finally {
        \ob_end_flush();
    }
    return [$result, $output];
}

/** An object that takes its time when it is written down and read back, in the present way. */
class Bag
{
    public function __construct(public mixed $content = null) {}

    public function __serialize(): array
    {
        pause();
        return ['content' => $this->content];
    }

    public function __unserialize(array $data): void
    {
        pause();
        $this->content = $data['content'];
    }

    public function __debugInfo(): array
    {
        pause();
        return ['content' => $this->content];
    }
}

/** The same in the way of old. */
class OldBag
{
    public function __construct(public mixed $content = null) {}

    public function __sleep(): array
    {
        pause();
        return ['content'];
    }

    public function __wakeup(): void
    {
        pause();
        $this->content = [$this->content];
    }
}

/** Objects in objects, and some things twice. */
function bags(int $n, string $class = Bag::class): array
{
    $inner = new $class("inner $n");
    return [new $class([$inner, "text $n", $n]), $inner, "between $n", new $class($inner), \str_repeat("long $n ", 20)];
}

/** Files `slow://NAME` in memory, whose operations take their time and which give a few bytes at once. */
final class SlowFiles
{
    /** @var array<string, string> */
    public static array $files = [];
    /** @var resource */
    public $context;
    private string $name = '';
    private int $at = 0;
    private array $names = [];

    public function stream_open(string $path, string $mode): bool
    {
        pause();
        $this->name = \substr($path, 7);
        if ($mode[0] === 'r' && !isset(self::$files[$this->name])) {
            return false;
        }
        self::$files[$this->name] = $mode[0] === 'w' ? '' : self::$files[$this->name] ?? '';
        return true;
    }

    public function stream_read(int $count): string
    {
        pause();
        $part = \substr(self::$files[$this->name], $this->at, \min($count, \max(7, \intdiv(\strlen(self::$files[$this->name]), 9))));
        $this->at += \strlen($part);
        return $part;
    }

    public function stream_write(string $data): int
    {
        pause();
        self::$files[$this->name] = \substr_replace(self::$files[$this->name], $data, $this->at, \strlen($data));
        $this->at += \strlen($data);
        return \strlen($data);
    }

    public function stream_eof(): bool
    {
        return $this->at >= \strlen(self::$files[$this->name]);
    }

    public function stream_seek(int $offset, int $whence): bool
    {
        pause();
        $this->at = $offset + [SEEK_SET => 0, SEEK_CUR => $this->at, SEEK_END => \strlen(self::$files[$this->name])][$whence];
        return true;
    }

    public function stream_tell(): int
    {
        return $this->at;
    }

    public function stream_stat(): array
    {
        pause();
        return ['size' => \strlen(self::$files[$this->name]), 'mode' => 0100644];
    }

    public function url_stat(string $path): array|false
    {
        pause();
        $file = self::$files[\substr($path, 7)] ?? null;
        return $file === null ? false : ['size' => \strlen($file), 'mode' => 0100644];
    }

    public function stream_flush(): bool
    {
        pause();
        return true;
    }

    public function stream_truncate(int $size): bool
    {
        pause();
        self::$files[$this->name] = \substr(self::$files[$this->name], 0, $size);
        return true;
    }

    public function stream_set_option(): bool
    {
        return false;
    }

    public function stream_lock(): bool
    {
        pause();
        return true;
    }

    public function stream_metadata(): bool
    {
        pause();
        return true;
    }

    public function stream_close(): void
    {
        pause();
    }

    public function unlink(string $path): bool
    {
        pause();
        unset(self::$files[\substr($path, 7)]);
        return true;
    }

    public function rename(string $from, string $to): bool
    {
        pause();
        self::$files[\substr($to, 7)] = self::$files[\substr($from, 7)];
        unset(self::$files[\substr($from, 7)]);
        return true;
    }

    public function mkdir(): bool
    {
        pause();
        return true;
    }

    public function rmdir(): bool
    {
        pause();
        return true;
    }

    public function dir_opendir(string $path): bool
    {
        pause();
        $this->names = ['b' . \substr($path, 7), 'a' . \substr($path, 7), 'c'];
        return true;
    }

    public function dir_readdir(): string|false
    {
        pause();
        return \array_shift($this->names) ?? false;
    }

    public function dir_closedir(): bool
    {
        pause();
        return true;
    }

    public function dir_rewinddir(): bool
    {
        pause();
        $this->names = ['again'];
        return true;
    }
}
\stream_wrapper_register('slow', SlowFiles::class);

/** The URL of a slow file with this content. */
function slow(string $content, string $suffix = ''): string
{
    static $count = 0;
    SlowFiles::$files[$name = 'file' . ++$count . $suffix] = $content;
    return "slow://$name";
}

/** The content of a slow file. */
function written(string $url): string
{
    return SlowFiles::$files[\substr($url, 7)];
}

/** A slow file that is open. */
function slow_stream(string $content = '', string $mode = 'r+')
{
    return \fopen(slow($content), $mode);
}

/** An iterator that takes its time. */
final class Items implements \Iterator
{
    private int $at = 0;

    public function __construct(private array $items) {}

    public function rewind(): void
    {
        pause();
        $this->at = 0;
    }

    public function valid(): bool
    {
        pause();
        return $this->at < \count($this->items);
    }

    public function key(): mixed
    {
        pause();
        return \array_keys($this->items)[$this->at];
    }

    public function current(): mixed
    {
        pause();
        return \array_values($this->items)[$this->at];
    }

    public function next(): void
    {
        pause();
        $this->at++;
    }
}

/** The classes of cases that are loaded on demand, slowly: name => how they are defined. */
final class OnDemand
{
    /** @var array<string, string> */
    public static array $classes = [];

    public static function load(string $class): void
    {
        if (isset(self::$classes[$class])) {
            pause();
            if (!\class_exists($class, false)) {
                eval(self::$classes[$class]);
            }
        }
    }
}
\spl_autoload_register(OnDemand::load(...));

/** The name of a new class that is loaded when it is asked for. */
function on_demand(string $body = '', string $is = ''): string
{
    static $count = 0;
    $name = 'OnDemand' . ++$count;
    OnDemand::$classes[$name] = "class $name $is { $body }";
    return $name;
}
