<?php
// Run by `spindle serve`, with arguments NAME=VALUE. Ends with status 0 when the server was stopped, and 1 with a line that says why it
// cannot serve. If it is to be started again: CHANGED after a file has changed, DIED if the app has ended it.
//
// The descriptor `control` is a socket to the command. It is told "refused" if its options are wrong, "says LINE" for one
// that the command says on standard error, "ready", "file PATH" for those that are watched, "failed" after a fatal error of the app, and "leaving" when no more connections are accepted, which are left to the next PHP then; it says "stop" and
// "now", "ask" to hear "runs", "requests" to hear "request JSON" of each and "requests N" at the end, and "reopen" for the log. Signals do not, because service managers send them to all processes of a service.

namespace Spindle\Serve;

use Async\{Awaitable, CancellationException, Scope};
use Async\Http\{BadRequest, Forbidden, PayloadTooLarge, Request, Response, Server, ServerException, Tls, UpgradeRequired};
use function Async\{await, delay, signal, suspend};

const CHANGED = 75;
const DIED = 76;
// Their names are pcntl's, which need not be there.
const SIGHUP = 1;
const SIGINT = 2;
const SIGQUIT = 3;
const SIGUSR1 = 10;
const SIGUSR2 = 12;
const SIGTERM = 15;

function fail(string $message): never
{
    State::$fails = true;
    say('spindle: ' . \preg_replace('/\s+/', ' ', \trim($message)));
    exit(1);
}

/** Has the command say a line, which waits for no reader of standard error. */
function say(string $line): void
{
    tell('says ' . \substr($line, 0, 4000));
}

final class State
{
    public static bool $fails = false;
    public static int $process;
    /** The app was loaded. */
    public static bool $isReady = false;
    public static bool $restarts = false;
    public static bool $isStopping = false;
    /** @var resource */
    public static $control;
    /** Says that it serves. */
    public static ?\Closure $announce = null;
    /** @var array<string, array{string, ?string}> what the files of the app looked like */
    public static array $seen = [];
}

/**
 * Returns a value that changes when a file does: what the system says of it, and its content while that is not enough, because
 * times are in seconds.
 *
 * @return array{string, ?string}
 */
function version(string $file): array
{
    \clearstatcache(true, $file);
    $stat = @\stat($file);
    if (!$stat) {
        return ['', null];
    }
    $content = \time() - $stat['ctime'] <= 2 ? (string) @\md5_file($file) : null;
    return ["$stat[ino] $stat[mtime] $stat[ctime] $stat[size]", $content];
}

/** Remembers how files look that have been included since. */
function remember(string ...$files): void
{
    foreach ([...$files, ...\get_included_files()] as $file) {
        State::$seen[$file] ??= version($file);
    }
}

/** Returns a file that has changed. */
function changed(): ?string
{
    foreach (State::$seen as $file => [$stat, $content]) {
        $now = version($file);
        if ($now[0] !== $stat || $now[1] !== null && $content !== null && $now[1] !== $content) {
            return $file;
        }
        State::$seen[$file] = $now;
    }
    return null;
}

/** Whether the app has forked this process: that ends as the app likes, and nothing is said or shown of it. */
function isForked(): bool
{
    return \getmypid() !== State::$process;
}

/** Tells the command something. */
function tell(string $line): void
{
    @\fwrite(State::$control, "$line\n"); // it may be gone
}

/** Tells the command which requests there are, the oldest first: no more than its socket takes at once, each in a line that it takes. */
function tellRequests(Server $server): void
{
    $lines = '';
    $requests = $server->requests();
    foreach ($requests as $told => $request) {
        [$target, $where] = [$request['target'], $request['where']];
        $request['method'] = \substr($request['method'], 0, 50);
        foreach ([6000, 2000, 300] as $most) {
            $request['target'] = \strlen($target) > $most / 2 ? \substr($target, 0, $most / 2) . '…' : $target;
            $request['where'] = \strlen($where) > $most ? \substr($where, 0, $most) . "…\n" : $where;
            $line = \json_encode($request, \JSON_INVALID_UTF8_SUBSTITUTE | \JSON_UNESCAPED_UNICODE | \JSON_UNESCAPED_SLASHES);
            if (\strlen($line) < 8000) {
                break;
            }
        }
        if (\strlen($lines) + \strlen($line) > 100_000) {
            break;
        }
        $lines .= "request $line\n";
        unset($requests[$told]);
    }
    tell("{$lines}requests " . \count($requests));
}

/** Accepts no more connections, and answers the requests that have come. */
function stop(Server $server, float $grace): void
{
    if (!State::$isStopping) {
        State::$isStopping = true;
        tell('leaving'); // it may be that only this process was told to stop
    }
    $server->stop($grace);
}

/** A fatal error has ended a request. The others are answered. */
function fails(): void
{
    tell('failed');
    tell('leaving');
}

/** Has requests logged in a file, or on standard output. */
function openLog(Server $server, string $format, ?string $file): bool
{
    $stream = $file === null ? \STDOUT : @\fopen($file, 'ae'); // not for programs that the app starts
    return $stream && $server->accessLog($stream, $format);
}

function lastError(): string
{
    return \preg_replace('/^fopen\((.*)\): Failed to open stream: /', '$1: ', \error_get_last()['message'] ?? '');
}

/** Calls a function whenever a signal comes, the first of which may be awaited already. */
function whenever(Scope $scope, int $signal, callable $do, ?Awaitable $first = null): void
{
    $arrival = $first ?? signal($signal);
    $scope->spawn(static function () use ($signal, $arrival, $do): void {
        while (true) {
            await($arrival);
            $arrival = signal($signal);
            $do();
        }
    });
}

/** A page that shows what has gone wrong. */
function page(string $text): Response
{
    $shown = \htmlspecialchars($text, \ENT_QUOTES | \ENT_SUBSTITUTE, 'UTF-8');
    return new Response("<!doctype html><meta charset=utf-8><title>Error</title>\n<pre style=\"white-space: pre-wrap\">$shown</pre>\n", 500, [
        'Content-Type' => 'text/html; charset=utf-8',
        'Cache-Control' => 'no-store',
    ]);
}

/** Shows what a handler throws on the page. */
function shown(callable $handler): \Closure
{
    return static function (Request $request) use ($handler) {
        try {
            $result = $handler($request);
            if (\is_bool($result) || \is_int($result) || \is_float($result)) {
                throw new \TypeError('The handler has returned ' . \get_debug_type($result) . ', which is no response');
            }
            return $result;
        } catch (CancellationException | BadRequest | Forbidden | PayloadTooLarge | UpgradeRequired $answered) {
            throw $answered;
        } catch (\Throwable $thrown) {
            if ($request->isWebSocket() || isForked()) {
                throw $thrown;
            }
            \error_log("$thrown");
            return page("$thrown");
        }
    };
}

/**
 * Reads PREFIX=DIR, or DIR: that is it also if there is a directory with such a name.
 *
 * @return array{string, string}
 */
function placed(string $text): array
{
    return !\is_dir($text) && \preg_match('~^(/[^=]*)=(.*)$~s', $text, $found) ? [$found[1], $found[2]] : ['/', $text];
}

function main(array $arguments): never
{
    $one = ['mode' => 'handler', 'grace' => '30', 'log' => 'combined'];
    $many = ['listen' => [], 'shown' => [], 'files' => [], 'sendfile' => [], 'set' => [], 'argument' => []];
    foreach ($arguments as $argument) {
        [$name, $value] = \explode('=', $argument, 2);
        isset($many[$name]) ? $many[$name][] = $value : $one[$name] = $value;
    }
    $isDev = isset($one['dev']);
    $app = $one['app'];
    $grace = (float) $one['grace'];
    if (!isset($one['control'])) { // which the module adds to the arguments of a worker that is forked
        \fwrite(\STDERR, "spindle: PHP has not loaded Spindle, or one of another version: 'spindle doctor' says why\n");
        exit(1);
    }
    State::$control = \fopen("php://fd/$one[control]", 'r+');
    \stream_set_timeout(State::$control, 1 << 30); // as it is a socket, the default would be a minute
    \extension_loaded('spindle') || fail("PHP has not loaded Spindle: 'spindle doctor' says why");
    $options = [];
    foreach ($many['set'] as $set) {
        [$name, $value] = \explode('=', $set, 2);
        $options[$name] = match (true) {
            $name === 'trusted_proxies' => \explode(',', $value),
            \is_numeric($value) => $value + 0,
            \in_array($value, ['true', 'false'], true) => $value === 'true',
            default => $value,
        };
    }
    $inherited = \array_filter(\preg_filter('/^fd:(\d+)$/', '$1', $many['listen']), fn($fd) => $fd > 2); // not the standard ones
    $options += ['fatal_grace' => $grace, 'idle_grace' => $isDev ? 0 : 1, 'close_on_exec' => [State::$control, ...\array_map(\intval(...), [$one['control'], ...$inherited])]];
    $options += $one['log'] === 'json' || $one['log'] === 'logfmt' ? ['error_log' => $one['log']] : [];
    $one['workers'] === '1' || $one['worker'] === '0' || $options['worker'] = (int) $one['worker'];
    isset($one['topics']) && $options['topics'] = (int) $one['topics'];
    isset($one['board']) && $options['board'] = \array_map(\intval(...), \explode(',', $one['board']));
    try {
        $server = new Server($options);
        foreach ($many['files'] as $files) {
            [$prefix, $folder] = placed($files);
            $server->files($prefix, $folder);
            $prefix === '/' && $_SERVER['DOCUMENT_ROOT'] === '' && $_SERVER['DOCUMENT_ROOT'] = (string) \realpath($folder);
        }
        if ($one['mode'] === 'classic') {
            $server->files('/', $app);
            $sendfile = [];
            foreach (\array_map(placed(...), $many['sendfile']) as [$prefix, $directory]) {
                $sendfile[$prefix][] = $directory;
            }
            $server->fastcgi('/', $one['fastcgi'], $app, ['connections' => (int) $one['children'], 'sendfile' => $sendfile]);
        }
        $tls = isset($one['certificate']) ? new Tls($one['certificate'], $one['key']) : null;
        foreach ($many['listen'] as $address) {
            $server->listen($address, $tls, isset($one['proxied']));
        }
        $one['log'] === 'off' || openLog($server, $one['log'], $one['log-file'] ?? null) || throw new ServerException(lastError());
    } catch (ServerException | \ValueError $wrong) {
        tell('refused');
        fail($wrong->getMessage());
    }
    State::$process = \getmypid();
    \register_shutdown_function(static function () use ($one, $app, $isDev): void {
        $error = \error_get_last();
        if (State::$fails || isForked()) {
            return;
        }
        if (State::$restarts) {
            exit(CHANGED);
        }
        if ($error && $error['type'] & (\E_ERROR | \E_PARSE | \E_CORE_ERROR | \E_COMPILE_ERROR | \E_USER_ERROR | \E_RECOVERABLE_ERROR)) {
            if (!$isDev) {
                State::$isStopping || tell('failed');
                exit(1); // it was logged
            }
            $text = "Fatal error: $error[message] in $error[file]:$error[line]";
            State::$seen[$error['file']] ??= null;
        } else {
            $text = "$app has ended the process" . (State::$isReady ? '' : ' while it was loaded');
            $isDev || fail($text);
            \fwrite(\STDERR, 'spindle: ' . $text . (State::$isReady ? ": starting again\n" : "\n"));
        }
        $files = \array_values(\array_unique([...\array_keys(State::$seen), ...\get_included_files()]));
        \file_put_contents($one['state'], State::$isReady ? '' : \serialize([$text, $files]));
        exit(DIED);
    });
    // They are no reason to end, also while the app is loaded: those that are sent to a whole group come here, too.
    $early = [];
    foreach ([SIGHUP, SIGUSR1, SIGUSR2] as $signal) {
        $early[$signal] = signal($signal);
    }
    $broken = null;
    if ($isDev && ($state = (string) @\file_get_contents($one['state'])) !== '') {
        \file_put_contents($one['state'], '');
        [$broken, $files] = \unserialize($state, ['allowed_classes' => false]);
        remember($app, ...$files);
    } else {
        $isDev && remember($app);
        $broken = $one['mode'] === 'classic' ? null : load($server, $app, $one['mode'], (int) $one['instances'], $isDev, $many['argument']);
    }
    if ($broken !== null) {
        $server->handle(static fn (): Response => page($broken));
    }
    // From here on no signal ends the process by itself. While the app was loaded, which may take forever, they did.
    // Nobody awaits the coroutines here: async.diagnostics warns of such ones in the global scope.
    $scope = new Scope();
    foreach ([SIGINT, SIGTERM, SIGQUIT] as $signal) {
        whenever($scope, $signal, static fn () => stop($server, $grace));
    }
    foreach ([SIGHUP, SIGUSR1, SIGUSR2] as $signal) {
        whenever($scope, $signal, static fn () => null, $early[$signal]); // the command does what they stand for
    }
    $scope->spawn(static function () use ($server, $grace, $one): void {
        while (($line = \fgets(State::$control)) !== false) {
            if ($line === "reopen\n") {
                // The one that is open goes on if that fails.
                openLog($server, $one['log'], $one['log-file']) || \fwrite(\STDERR, 'spindle: ' . lastError() . "\n");
                continue;
            }
            if ($line === "ask\n") {
                tell('runs');
                continue;
            }
            if ($line === "requests\n") {
                tellRequests($server);
                continue;
            }
            stop($server, $line === "now\n" ? 0 : $grace);
        }
        stop($server, $grace); // the command is gone
    });
    if ($isDev) {
        $scope->spawn(static function () use ($server): void {
            while (($file = changed()) === null) {
                remember();
                delay(200);
            }
            \fwrite(\STDERR, "$file has changed: starting again\n");
            State::$restarts = true;
            $server->stop(2);
        });
    }
    State::$isReady = true;
    $scheme = $tls ? 'https' : 'http';
    $urls = \array_map(static fn (string $address): string => \preg_match('/^(unix|fd):/', $address) ? $address : "$scheme://$address/",
        [\str_starts_with($many['shown'][0], 'unix:') ? $many['shown'][0] : $server->address(), ...\array_slice($many['shown'], 1)]);
    $url = \implode(', ', $urls);
    $of = $one['workers'] === '1' ? '' : ", worker $one[worker]";
    @\cli_set_process_title("spindle serve: $app at $url$of");
    $instances = $one['mode'] === 'application' ? ", $one[instances] instance" . ($one['instances'] === '1' ? '' : 's') . ', opcache '
        . (\function_exists('opcache_get_status') && \opcache_get_status(false) ? 'on' : 'off') . ', time slice ' . ((int) \ini_get('async.time_slice_ms') ?: 10) . ' ms' : '';
    $instances .= $one['mode'] === 'classic' ? ", $one[children] process" . ($one['children'] === '1' ? '' : 'es') . ' of php-fpm' : '';
    $instances .= $one['workers'] === '1' ? '' : ", $one[workers] workers";
    State::$announce = static function () use ($app, $url, $one, $instances, $isDev): void {
        $one['worker'] === '1' && say(\strtr("Serving $app at $url ($one[mode] mode$instances" . ($isDev ? ', restarts when a file changes' : '') . '); Ctrl+C stops it', ["\n" => '\n']));
        foreach ($isDev ? \get_included_files() : [] as $file) {
            tell("file $file");
        }
    };
    // The command is told when the server runs, or an instance is booted, so that it does not end the old one before.
    if ($one['mode'] !== 'application' || $isDev) {
        (State::$announce)();
        $scope->spawn(tell(...), 'ready');
    }
    try {
        $server->run();
    } catch (ServerException $failed) {
        if ($isDev) {
            State::$fails = true; // it has been said
            exit(DIED);
        }
        suspend(); // so that the command has heard of a fatal error before
        fail($failed->getMessage());
    }
    State::$fails = true; // nothing is left to be said
    exit(State::$restarts ? CHANGED : 0);
}

/** Boots an instance, and says that it serves when the first one is ready. */
function booted(callable $boot): \Closure
{
    $told = new \stdClass();
    return static function (int $instance) use ($boot, $told): mixed {
        $handler = $boot($instance);
        if (\is_callable($handler) && !isset($told->isReady)) {
            $told->isReady = true;
            (State::$announce)();
            tell('ready');
        }
        return $handler;
    };
}

/** Includes the app, and sets what it returns as the handler. Returns the problem with it, for the page. */
function load(Server $server, string $app, string $mode, int $instances, bool $isDev, array $arguments): ?string
{
    $GLOBALS['argv'] = $_SERVER['argv'] = [$app, ...$arguments];
    $GLOBALS['argc'] = $_SERVER['argc'] = \count($arguments) + 1;
    foreach (['SCRIPT_NAME', 'SCRIPT_FILENAME', 'PHP_SELF', 'PATH_TRANSLATED'] as $name) {
        $_SERVER[$name] = $app;
    }
    try {
        $handler = (static function (): mixed {
            [$argv, $argc] = [$_SERVER['argv'], $_SERVER['argc']];
            return require \func_get_arg(0);
        })($app);
    } catch (\Throwable $thrown) {
        if (!$isDev) {
            fail("$app: " . \get_class($thrown) . ": {$thrown->getMessage()} in {$thrown->getFile()}:{$thrown->getLine()}");
        }
        remember($thrown->getFile());
        \fwrite(\STDERR, "$thrown\n");
        return "$thrown";
    }
    if (!\is_callable($handler)) {
        $example = match ($mode) {
            'worker' => "return function (): void { echo 'Hello'; };",
            'application' => "return fn (int \$instance) => function (): void { echo 'Hello'; };",
            default => "return fn (Async\\Http\\Request \$request) => 'Hello';",
        };
        $text = "$app returns " . \get_debug_type($handler) . ", and must return what handles a request, as in: $example";
        $isDev || fail($text);
        \fwrite(\STDERR, "spindle: $text\n");
        return $text;
    }
    try {
        match ($mode) {
            'worker' => $server->worker($handler, fails(...)),
            'application' => $server->application($isDev ? $handler : booted($handler), $instances, eager: !$isDev, onFatalError: fails(...)),
            default => $server->handle($isDev ? shown($handler) : $handler),
        };
    } catch (ServerException $wrong) {
        fail($wrong->getMessage());
    }
    $isDev && remember();
    return null;
}

main(\array_slice($argv, 1));
