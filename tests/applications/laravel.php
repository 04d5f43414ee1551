<?php
/*
 * Serves an application of Laravel, unmodified, by packages/laravel, and works its queues.
 *
 *   run --laravel [--only GLOB] [--list] [--keep]
 *
 * The application is worker-mode/laravel on the distribution's Laravel, unpacked (fetch) and not installed, with PostgreSQL. All is
 * done by the commands that people call: artisan and spindle.
 *
 * - "clean ...": whatever a request changes, the next one of the same instance does not see, also when the request has failed.
 * - "ends ...": requests that do not return, clients that leave, and others beside them.
 * - "serve ...": the commands, and what they say.
 * - "work ...": jobs of a queue, worked by many workers in one process.
 */

declare(strict_types=1);

namespace Applications;

require __DIR__ . '/laravel-folder.php';

define('WORK', \Runner\work('laravel', isset($options['keep'])));
define('FOLDER', WORK . '/application');

/** A program that runs until it is told to end, or ends by itself. What it says is in files. */
final class Program
{
    /** @var resource */
    private $process;
    private ?int $status = null;
    private static int $count = 0;
    public readonly string $output;
    public readonly string $errors;
    public readonly int $pid;

    public function __construct(array $command, array $environment = [])
    {
        $n = ++self::$count;
        [$this->output, $this->errors] = [WORK . "/$n.out", WORK . "/$n.err"];
        $this->process = proc_open($command, [['file', '/dev/null', 'r'], ['file', $this->output, 'w'], ['file', $this->errors, 'w']], $pipes, FOLDER, $environment + getenv());
        $this->pid = proc_get_status($this->process)['pid'];
    }

    public function __destruct()
    {
        $this->ended() || proc_terminate($this->process, SIGKILL);
    }

    public function ended(): bool
    {
        if ($this->status === null) {
            $now = proc_get_status($this->process);
            $this->status = $now['running'] ? null : ($now['signaled'] ? -$now['termsig'] : $now['exitcode']);
        }
        return $this->status !== null;
    }

    /** Waits for its end. @return int its status, or the signal as a negative number */
    public function status(): int
    {
        until(fn () => $this->ended(), fn () => "the program does not end: {$this->said()}");
        return $this->status;
    }

    public function signal(int $signal): self
    {
        proc_terminate($this->process, $signal);
        return $this;
    }

    public function said(): string
    {
        return file_get_contents($this->output) . file_get_contents($this->errors);
    }

    /** Waits until it has said this. @return list<string> what was found */
    public function says(string $pattern): array
    {
        until(fn () => preg_match($pattern, $this->said()) || $this->ended(), fn () => "it does not say $pattern: {$this->said()}");
        return preg_match($pattern, $this->said(), $found) ? $found : throw new \Exception("It ends, and has not said $pattern: {$this->said()}");
    }
}

/** Waits for something, for a minute at most. */
function until(callable $is, callable $else): void
{
    for ($end = hrtime(true) + 60_000_000_000; !$is(); usleep(5000)) {
        hrtime(true) < $end || throw new \Exception($else());
    }
}

/** Settings for all PHP that runs here. @return list<string> */
function php(): array
{
    return ['-d', 'error_reporting=8191', '-d', 'extension=' . EXTENSION];
}

/** The command `spindle` that belongs to the extension. */
function spindle(): string
{
    foreach ([dirname(EXTENSION) . '/spindle', ROOT . '/build/spindle'] as $file) {
        if (is_executable($file)) {
            return $file;
        }
    }
    throw new \Runner\Skipped('there is no command spindle beside the extension');
}

/** Serves the application directly. */
function serving(int $instances, string ...$options): Program
{
    return new Program([spindle(), 'serve', 'vendor/spindle/laravel/serve.php', '--mode', 'application', '--instances', "$instances", '--listen', '127.0.0.1:0',
        // A busy machine is no reason to refuse requests.
        '--set', 'queue_timeout=0', '--php', PHP_BINARY, '--extension', EXTENSION, '-d', 'error_reporting=8191', ...$options]);
}

function address(Program $server): string
{
    return $server->says('~http://(127\.0\.0\.1:\d+)~')[1];
}

function ask(string $address, string $path): string
{
    $context = stream_context_create(['http' => ['ignore_errors' => true, 'timeout' => 60]]);
    $answer = @file_get_contents("http://$address$path", context: $context);
    return $answer === false ? throw new \Exception("no answer to $path: " . (error_get_last()['message'] ?? '')) : $answer;
}

function asked(string $address, string $path): array
{
    $answer = ask($address, $path);
    return json_decode($answer, true) ?? throw new \Exception("The answer to $path is $answer; " . last_of_log());
}

function last_of_log(): string
{
    preg_match_all('/^\[\d.*$/m', (string) @file_get_contents(FOLDER . '/storage/logs/laravel.log'), $lines);
    return 'the log ends with ' . implode("\n", array_slice($lines[0], -2));
}

function same(mixed $expected, mixed $found, string $what): void
{
    $expected === $found || throw new \Exception("$what: " . json_encode($found) . ' instead of ' . json_encode($expected));
}

$cases = [];

/** @param int $instances of which each is asked */
$clean = static function (int $instances): string {
    $server = serving($instances);
    $address = address($server);
    $handled = 1;
    same(['handled' => 1, 'seen' => 0], asked($address, '/state/see/controllers'), 'controllers that the boot has made');
    $kinds = asked($address, '/state/kinds');
    $wrong = [];
    foreach ($kinds as $kind) {
        $path = rawurlencode($kind);
        $see = static function () use ($address, $path, $instances, &$handled): array {
            $found = [];
            for ($i = 0; $i < $instances; $i++) {
                $answer = asked($address, "/state/see/$path");
                // An instance that was booted anew would be clean by that.
                $instances > 1 || same(++$handled, $answer['handled'], "requests handled at $path");
                $found[] = $answer['seen'];
            }
            return $found;
        };
        $clean = $see();
        foreach (['returns', 'fails'] as $how) {
            for ($i = 0; $i < $instances; $i++) {
                $answer = ask($address, "/state/change/$path/$how");
                $handled = $how === 'fails' ? $handled : (json_decode($answer, true)['handled'] ?? 0);
                if ($how === 'returns' && in_array(json_decode($answer, true), [null, ['handled' => $handled, 'seen' => $clean[0]]], true)) {
                    $wrong[] = "$kind: it cannot be seen that it has changed: $answer";
                }
            }
            $found = $see();
            $found === $clean || $wrong[] = "$kind: the request after one that $how sees " . json_encode($found) . ' instead of ' . json_encode($clean);
        }
    }
    str_contains(file_get_contents(FOLDER . '/storage/logs/laravel.log'), 'left a transaction open on the connection pgsql') || $wrong[] = 'it is not logged that a transaction was left open';
    $wrong === [] || throw new \Exception(implode("\n", $wrong));
    same(['1', '1', '1'], array_map(static fn () => ask($address, '/state/visits'), [1, 2, 3]), 'visits that a controller has counted');
    same(0, $server->signal(SIGTERM)->status(), 'status');
    return count($kinds) . ' kinds';
};
$cases['clean: one instance'] = static fn () => $clean(1);
$cases['clean: two instances'] = static fn () => $clean(2);
/** Sets variables while something is done. @param list<string> $variables */
function with(array $variables, callable $do): mixed
{
    array_map(putenv(...), $variables);
    try {
        return $do();
    } finally {
        array_map(static fn (string $set) => putenv(strtok($set, '=')), $variables);
    }
}
$cases['clean: with spindle/eloquent, and a boot that does not use Redis'] = static fn () => with(['POOL_MAX=2', 'REDIS_IN_BOOT=false'], static fn () => $clean(1));
$cases['clean: with Predis'] = static fn () => missing('php-nrk-predis') ? throw new \Runner\Skipped('there is no Predis') : with(['REDIS_CLIENT=predis'], static fn () => $clean(1));
$cases['clean: controllers, with the cache of routes'] = static function (): void {
    artisan('route:cache');
    try {
        $server = serving(1);
        $address = address($server);
        foreach (['/state/visits', '/added'] as $path) {
            same(['1', '1', '1'], array_map(static fn () => ask($address, $path), [1, 2, 3]), "visits that the controller of $path has counted");
        }
        same(0, $server->signal(SIGTERM)->status(), 'status');
    } finally {
        artisan('route:clear');
    }
};

/** Asks for all of these at once. @return list<array{int, string}> status and body */
function together(string $address, string ...$paths): array
{
    $multi = curl_multi_init();
    $all = [];
    foreach ($paths as $path) {
        curl_multi_add_handle($multi, $all[] = $curl = curl_init("http://$address$path"));
        curl_setopt_array($curl, [CURLOPT_RETURNTRANSFER => true, CURLOPT_TIMEOUT => 60]);
    }
    do {
        curl_multi_exec($multi, $running);
        $running && curl_multi_select($multi, 1);
    } while ($running);
    return array_map(static fn ($curl) => [curl_getinfo($curl, CURLINFO_RESPONSE_CODE), (string) curl_multi_getcontent($curl)], $all);
}

/** Asks for a page while others are being made, which must be right. @return array{int, string} */
function beside(string $address, string $path): array
{
    $others = array_map(static fn (int $n) => "/ends/slow?n=$n", range(1, 6));
    $answers = together($address, ...$others, ...[$path], ...$others);
    foreach ([...$others, ...[null], ...$others] as $i => $other) {
        $other === null || same([200, 'slow for ' . substr($other, -1)], $answers[$i], "the answer beside $path");
    }
    return $answers[6];
}

/** Requests that have not returned leave nothing in the database, and all instances are there again. */
function nothing_is_left(string $address): void
{
    until(static fn () => ask($address, '/ends/notes') === '0', static fn () => 'a transaction is open, or was committed');
    $answers = together($address, ...array_map(static fn (int $n) => "/ends/slow?n=$n", range(1, 8)));
    same(array_map(static fn (int $n) => [200, "slow for $n"], range(1, 8)), $answers, 'answers afterwards');
}

$ends = static function (string $path, callable $check) use (&$cases): void {
    $cases["ends: $path"] = static function () use ($path, $check): void {
        file_put_contents(FOLDER . '/storage/logs/laravel.log', '');
        $server = serving(4);
        $address = address($server);
        for ($i = 0; $i < 3; $i++) {
            $check(...[...beside($address, "/ends/$path"), $server]);
            nothing_is_left($address);
        }
        same(0, $server->signal(SIGTERM)->status(), 'status');
    };
};
$logged = static function (string $what): void {
    $log = file_get_contents(FOLDER . '/storage/logs/laravel.log');
    substr_count($log, $what) === 1 || throw new \Exception("$what is " . substr_count($log, $what) . ' times in the log, instead of once');
    file_put_contents(FOLDER . '/storage/logs/laravel.log', '');
};
$ends('exit', static fn (int $status, string $body) => same([200, 'left'], [$status, $body], 'answer'));
$ends('dd', static fn (int $status, string $body) => preg_match('~<pre class=.?sf-dump.*dumped~s', $body) || throw new \Exception("It is not dumped to the client: $body"));
$ends('twice', static function (int $status, string $body) use ($logged): void {
    same([500, true], [$status, str_contains($body, 'Server Error')], "the application's page, in place of $body");
    $logged('FatalError(code: 0): Cannot declare class App\\\\State');
});
$ends('memory', static function (int $status, string $body) use ($logged): void {
    same([500, true], [$status, str_contains($body, 'Server Error')], "the application's page, in place of $body");
    $logged('FatalError(code: 0): Allowed memory size');
});
extension_loaded('redis') && $ends('redis', static function (int $status, string $body) use ($logged): void {
    same([200, 'left'], [$status, $body], 'answer');
    $logged('A connection of Redis cannot be used after a request');
});
$cases['ends: requests that are cancelled'] = static function (): void {
    $server = serving(4, '--set', 'request_timeout=1');
    $address = address($server);
    for ($i = 0; $i < 2; $i++) {
        $answers = together($address, '/ends/late', '/ends/slow?n=1', '/ends/late', '/ends/slow?n=2');
        same([[200, 'slow for 1'], [200, 'slow for 2']], [$answers[1], $answers[3]], 'answers of the others');
        same([true, true], [$answers[0][0] >= 500, $answers[2][0] >= 500], 'failures');
        nothing_is_left($address);
    }
    same(0, $server->signal(SIGTERM)->status(), 'status');
};
$cases['ends: clients leave'] = static function (): void {
    $server = serving(4);
    $address = address($server);
    for ($i = 0; $i < 8; $i++) {
        @unlink(FOLDER . '/storage/app/long');
        $client = stream_socket_client("tcp://$address");
        fwrite($client, "GET /ends/long HTTP/1.1\r\nHost: a\r\n\r\n");
        until(static fn () => is_file(FOLDER . '/storage/app/long'), static fn () => 'the request has not come');
        fread($client, 100);
        fclose($client);
    }
    nothing_is_left($address);
    same(0, $server->signal(SIGTERM)->status(), 'status');
};

/**
 * What a visitor asks for, and what it must get: pages of its own, and requests that end in any way.
 *
 * @return \Generator<int, array<int, mixed>, string, void> options of cURL; it is given the body
 */
function visit(int $n, int $requests): \Generator
{
    $random = new \Random\Randomizer(new \Random\Engine\Mt19937($n));
    preg_match('/value="(.*?)"/', yield [CURLOPT_URL => '/form'], $token);
    $body = yield [CURLOPT_URL => '/login', CURLOPT_POSTFIELDS => http_build_query(['_token' => $token[1], 'name' => "user$n", 'password' => "secret$n"])];
    same("[true,\"user$n\"]", $body, "the login of visitor $n");
    $count = 0;
    $pages = ['/account' => '[' . $n + 1 . ",\"user$n\",true]", "/hello/v$n" => "hello v$n, n$n", "/notes/v$n" => "one of v$n, two, three 1 0", "/view/v$n" => "<p>v$n v$n</p><li>1<li>2<li>v$n",
        "/transaction/v$n" => '["11","rolled back","01"]', "/open/v$n" => '001', '/words/de' => 'Guten Tag de de', '/locale' => 'Hello en en', "/left/v$n" => "left by v$n"];
    while ($requests-- > 0) {
        $path = $random->shuffleArray([...array_keys($pages), '/count', '/fails', '/ends/dd', '/ends/long'])[0];
        $body = yield [CURLOPT_URL => "$path?n=v$n"] + ($path === '/ends/long' ? [CURLOPT_TIMEOUT_MS => $random->getInt(1, 50)] : []);
        match ($path) {
            '/count' => same(++$count . " for v$n", $body, "what visitor $n gets for $path"),
            '/fails' => same(true, str_contains($body, 'Server Error'), "what visitor $n gets for $path, $body,"),
            '/ends/dd' => same(true, str_contains($body, 'dumped'), "what visitor $n gets for $path, $body,"),
            '/ends/long' => null,
            default => same($pages[$path], $body, "what visitor $n gets for $path"),
        };
    }
}

$cases['ends: 32 visitors, failures, exits and clients that leave'] = static function (): string {
    $server = serving(8);
    $address = address($server);
    $multi = curl_multi_init();
    $asked = 0;
    $visits = [];
    $ask = static function (\CurlHandle $curl, int $n, \Generator $visit) use ($address, $multi, &$asked): void {
        if ($visit->valid()) {
            $asked++;
            $options = $visit->current();
            // The handle keeps the cookies of the visitor.
            curl_setopt_array($curl, [CURLOPT_URL => "http://$address{$options[CURLOPT_URL]}"] + $options + [CURLOPT_HTTPGET => !isset($options[CURLOPT_POSTFIELDS]), CURLOPT_RETURNTRANSFER => true,
                CURLOPT_TIMEOUT_MS => 60_000, CURLOPT_HTTPHEADER => ["X-N: n$n"], CURLOPT_COOKIEFILE => '']);
            curl_multi_add_handle($multi, $curl);
        }
    };
    for ($n = 0; $n < 32; $n++) {
        $visits[spl_object_id($curl = curl_init())] = [$curl, $n, visit($n, 30)];
        $ask(...$visits[spl_object_id($curl)]);
    }
    do {
        curl_multi_exec($multi, $running);
        while ($done = curl_multi_info_read($multi)) {
            [$curl, $n, $visit] = $visits[spl_object_id($done['handle'])];
            curl_multi_remove_handle($multi, $curl);
            $visit->send((string) curl_multi_getcontent($curl));
            $ask($curl, $n, $visit);
            $running++;
        }
        $running && curl_multi_select($multi, 0.1);
    } while ($running);
    nothing_is_left($address);
    same(0, $server->signal(SIGTERM)->status(), 'status');
    return "$asked requests";
};
$cases['serve: artisan spindle:serve'] = static function (): void {
    file_put_contents(FOLDER . '/public/page.css', 'body {}');
    @mkdir(FOLDER . '/storage/app/public');
    file_put_contents(FOLDER . '/storage/app/public/stored.txt', 'stored');
    @symlink(FOLDER . '/storage/app/public', FOLDER . '/public/storage');
    foreach ([[], ['-d', 'disable_functions=pcntl_exec']] as $with) {
        $server = new Program([PHP_BINARY, ...php(), ...$with, 'artisan', 'spindle:serve', '--port=0', '--instances=3', '--spindle=' . spindle(), '--', '--extension', EXTENSION]);
        $address = address($server);
        same(['body {}', 'stored'], [ask($address, '/page.css'), ask($address, '/storage/stored.txt')], 'files');
        same(['', '/server', '/index.php', 'index.php', 'public', false, 'public'], array_values(array_diff_key(asked($address, '/server'), [2 => 'the port is in it'])), 'what the application knows of the request');
        $answers = together($address, ...array_map(static fn (int $n) => "/ends/slow?n=$n", range(1, 6)));
        same(array_map(static fn (int $n) => [200, "slow for $n"], range(1, 6)), $answers, 'answers');
        same(0, $server->signal(SIGTERM)->status(), 'status');
    }
};
$cases['serve: what .env says is read again'] = static function (): void {
    $environment = file_get_contents(FOLDER . '/.env');
    $server = new Program([PHP_BINARY, ...php(), 'artisan', 'spindle:serve', '--port=0', '--instances=1', '--spindle=' . spindle(), '--', '--extension', EXTENSION]);
    $address = address($server);
    try {
        file_put_contents(FOLDER . '/.env', "{$environment}APP_NAME=renamed\n");
        same('Laravel', asked($address, '/state/see/configuration')['seen'], 'name');
        $server->signal(SIGHUP);
        until(static fn () => asked($address, '/state/see/configuration')['seen'] === 'renamed', static fn () => 'the name is the old one');
    } finally {
        file_put_contents(FOLDER . '/.env', $environment);
    }
    same(0, $server->signal(SIGTERM)->status(), 'status');
};
$cases['serve: an application without a database, users and cache'] = static function (): void {
    with(['APP_BARE=1'], static function (): void {
        $server = serving(1);
        $address = address($server);
        foreach (['1', '2', '3'] as $n) {
            same("plain for $n", ask($address, "/plain?n=$n"), 'answer');
        }
        same(0, $server->signal(SIGTERM)->status(), 'status');
    });
};
$cases['serve: what cannot be served'] = static function (): void {
    $server = new Program([PHP_BINARY, ...php(), 'artisan', 'spindle:serve', '--spindle=/nowhere']);
    $server->says('~There is no program /nowhere~');
    same(1, $server->status(), 'status');
    $server = new Program([spindle(), 'serve', FOLDER . '/vendor/spindle/laravel/serve.php', '--mode', 'application', '--listen', '127.0.0.1:0', '--php', PHP_BINARY,
        '--extension', EXTENSION, '--', WORK]);
    $server->says('~There is no Laravel application~');
    rename(FOLDER . '/config/app.php', FOLDER . '/config/app.hidden');
    try {
        $server = serving(2);
        same(1, $server->status(), 'status');
    } finally {
        rename(FOLDER . '/config/app.hidden', FOLDER . '/config/app.php');
    }
};

function artisan(string ...$arguments): string
{
    $program = new Program([PHP_BINARY, '-d', 'error_reporting=8191', 'artisan', ...$arguments]);
    same(0, $program->status(), "status of $arguments[0]: {$program->said()}");
    return file_get_contents($program->output);
}

/** Works the queue of the database. */
function working(int $workers, string ...$options): Program
{
    array_map(unlink(...), glob(FOLDER . '/storage/app/{began-*,told}', GLOB_BRACE));
    return new Program([PHP_BINARY, ...php(), 'artisan', 'spindle:work', 'database', "--concurrency=$workers", ...$options]);
}

/** @param list<int> $numbers of jobs that have been handled, once each, in one process */
function handled(array $numbers, int $left = 0, int $failed = 0): array
{
    [$handled, $jobs, $failures] = json_decode(artisan('handled'), true);
    $found = array_column($handled, 'number');
    sort($found);
    same([$numbers, $left, $failed], [$found, $jobs, $failures], 'handled, left and failed jobs');
    same(count($handled), count(array_filter(array_column($handled, 'alone'))), 'jobs that had an instance for themselves');
    return $handled;
}

function began(int ...$numbers): void
{
    foreach ($numbers as $n) {
        until(static fn () => is_file(FOLDER . "/storage/app/began-$n"), static fn () => "job $n has not begun");
    }
}

$cases['work: 200 jobs of 50 ms by 20 workers'] = static function (): string {
    artisan('push', 'wait', '200');
    $program = working(20, '--stop-when-empty');
    $program->says('~20 workers are ready~');
    $ready = microtime(true);
    same(0, $program->status(), 'status');
    $handled = handled(range(1, 200));
    same(1, count(array_unique(array_column($handled, 'pid'))), 'processes');
    [$first, $last] = [min(array_column($handled, 'began')), max(array_column($handled, 'ended'))];
    return sprintf('%.2f s from ready, %.2f s from the first job', $last - $ready, $last - $first);
};
$cases['work: failures'] = static function (): void {
    artisan('push', 'fail once', '10');
    artisan('push', 'fail', '10', '11');
    same(0, working(5, '--stop-when-empty', '--tries=2')->status(), 'status');
    handled(range(1, 10), failed: 10);
};
foreach (['SIGTERM' => SIGTERM, 'SIGINT' => SIGINT] as $name => $signal) {
    $cases["work: $name"] = static function () use ($signal): void {
        artisan('push', 'until told', '8');
        $program = working(4);
        began(1, 2, 3, 4);
        $program->signal($signal);
        usleep(200_000);
        same(false, $program->ended(), 'has ended');
        touch(FOLDER . '/storage/app/told');
        same(0, $program->status(), 'status');
        handled(range(1, 4), left: 4);
    };
}
$cases['work: a signal while all wait'] = static function (): void {
    $program = working(4, '--sleep=50');
    $program->says('~4 workers are ready~');
    same(0, $program->signal(SIGTERM)->status(), 'status');
};
$cases['work: a signal while no jobs are taken'] = static function (): void {
    $program = working(2, '--sleep=0.05');
    $program->says('~2 workers are ready~');
    $program->signal(SIGUSR2);
    usleep(200_000);
    same(0, $program->signal(SIGTERM)->status(), 'status');
};
$cases['work: a second signal'] = static function (): void {
    artisan('push', 'until told', '2');
    $program = working(2);
    began(1, 2);
    $program->signal(SIGTERM)->says('~the workers end when they have finished their jobs~');
    $program->signal(SIGTERM);
    same(128 + SIGTERM, $program->status(), 'status');
    handled([], left: 2);
};
$cases['work: queue:restart'] = static function (): void {
    artisan('push', 'until told', '2');
    $program = working(3, '--sleep=0.05');
    began(1, 2);
    $program->says('~3 workers are ready~');
    artisan('queue:restart');
    touch(FOLDER . '/storage/app/told');
    same(0, $program->status(), 'status');
    handled([1, 2]);
};
$cases['work: queue:restart, and a worker that is started again after it'] = static function (): void {
    artisan('cache:clear'); // the time of a restart is in seconds, and an earlier one may be of this one
    artisan('push', 'exit when told');
    $program = working(1, '--sleep=0.05');
    began(1);
    artisan('queue:restart');
    touch(FOLDER . '/storage/app/told');
    same(0, $program->status(), 'status');
    handled([], left: 1);
};
$cases['work: lost connections'] = static function (): void {
    artisan('push', 'lose', '2');
    artisan('push', 'wait', '10', '3');
    $program = working(2, '--sleep=0.05');
    $program->says('~has lost its connection.*has lost its connection~s');
    began(...range(3, 12));
    same(0, $program->signal(SIGTERM)->status(), 'status');
    handled(range(3, 12), failed: 2);
};
$cases['work: --max-jobs, --once'] = static function (): void {
    artisan('push', 'wait', '30');
    same(0, working(4, '--max-jobs=10')->status(), 'status');
    handled(range(1, 10), left: 20);
    $program = working(1, '--max-jobs=3', '--sleep=0.01');
    $program->says('~1 worker is ready~');
    usleep(300_000);
    artisan('push', 'wait', '3');
    same(0, $program->status(), 'status');
    handled(range(1, 3));
    artisan('push', 'wait', '3');
    same(0, working(4, '--once')->status(), 'status');
    handled([1], left: 2);
};
$cases['work: --memory'] = static function (): void {
    artisan('push', 'until told', '4');
    $program = working(3, '--memory=1');
    began(1, 2, 3);
    touch(FOLDER . '/storage/app/told');
    same(12, $program->status(), 'status');
    handled([1, 2, 3], left: 1);
};
$cases['work: SIGUSR2 and SIGCONT'] = static function (): void {
    $program = working(2, '--sleep=0.05');
    $program->says('~2 workers are ready~');
    $program->signal(SIGUSR2);
    usleep(500_000);
    artisan('push', 'wait', '4');
    usleep(500_000);
    same([], glob(FOLDER . '/storage/app/began-*'), 'jobs that have begun');
    $program->signal(SIGCONT);
    began(1, 2, 3, 4);
    same(0, $program->signal(SIGTERM)->status(), 'status');
    handled([1, 2, 3, 4]);
};
$cases['work: jobs that exit'] = static function (): void {
    artisan('push', 'exit', '2');
    artisan('push', 'wait', '20', '3');
    $program = working(4, '--sleep=0.05');
    began(...range(1, 22));
    $program->says('~Numbered has ended its worker.*Numbered has ended its worker~s');
    same(0, $program->signal(SIGTERM)->status(), 'status');
    handled(range(3, 22), left: 2);
};
$cases['work: a fatal error'] = static function (): void {
    artisan('push', 'until told', '2');
    artisan('push', 'memory', '1', '3');
    artisan('push', 'wait', '2', '4');
    $program = working(3);
    began(1, 2, 3);
    $program->says('~a worker has failed~');
    touch(FOLDER . '/storage/app/told');
    same(1, $program->status(), 'status');
    handled([1, 2], left: 3);
};
$cases['work: --timeout'] = static function (): void {
    artisan('push', 'long', '2');
    artisan('push', 'wait', '20', '3');
    $program = working(3, '--timeout=1', '--sleep=0.05');
    $program->says('~Numbered has taken longer than 1 seconds.*Numbered has taken longer than 1 seconds~s');
    began(...range(3, 22));
    same(0, $program->signal(SIGTERM)->status(), 'status');
    handled(range(3, 22), failed: 2);
};
$cases['work: a job that fails when its time has passed'] = static function (): void {
    artisan('push', 'long, once');
    $program = working(1, '--timeout=1', '--tries=5', '--sleep=0.05');
    $program->says('~Failed:| FAIL$~m'); // since Laravel 9
    same(0, $program->signal(SIGTERM)->status(), 'status');
    same(1, preg_match_all('~Processing:| RUNNING$~m', $program->said()), 'how often it was tried');
    handled([], failed: 1);
};
/** Works these jobs, with a limit of one second, until it is told that all have been late. @return Program it is ended, and has been right */
function working_late(string ...$options): Program
{
    $program = working(1, '--timeout=1', '--sleep=0.05', ...$options);
    $program->says('~has taken longer than 1 seconds~');
    same(0, $program->signal(SIGTERM)->status(), 'status');
    return $program;
}
$done = static fn (Program $program) => preg_match_all('~Processed:| DONE$~m', $program->said());
$cases['work: a late job has ended before it fails'] = static function (): void {
    artisan('push', 'charge');
    @unlink(FOLDER . '/storage/app/charged');
    working_late('--tries=5');
    same([true, false], [is_file(FOLDER . '/storage/app/told'), is_file(FOLDER . '/storage/app/charged')], 'failed() was called, and the job went on');
    handled([], failed: 1);
};
$cases['work: a late job goes on when it is cancelled'] = static function () use ($done): void {
    artisan('push', 'swallow');
    $program = working(1, '--timeout=1', '--sleep=0.05', '--tries=5');
    $program->says('~Processed:| DONE$~m');
    same(0, $program->signal(SIGTERM)->status(), 'status');
    same(1, $done($program), 'how often it is said to be processed');
    handled([1, 1]); // it has gone on to its end, but too late
};
$cases['work: a late job goes on again and again'] = static function () use ($done): void {
    artisan('push', 'swallow two');
    $program = working(1, '--timeout=1', '--sleep=0.05', '--tries=5');
    $program->says('~Numbered goes on although it was cancelled, and is cancelled again~');
    $program->says('~Processed:| DONE$~m');
    same(0, $program->signal(SIGTERM)->status(), 'status');
    same([1, 1], [$done($program), substr_count($program->said(), 'goes on')], 'how often it is said to be processed, and to go on');
    handled([1, 1]);
};
$cases['work: a late job is released by its code'] = static function () use ($done): void {
    artisan('push', 'release');
    same(0, $done(working_late('--tries=5')), 'how often it is said to be processed');
    handled([1], left: 1);
};
$cases['work: a late job is failed by its code'] = static function (): void {
    artisan('push', 'fail itself');
    working_late('--tries=5');
    handled([1], failed: 1);
};
$cases['work: late jobs hold all connections of a pool'] = static function (): void {
    artisan('push', 'in a transaction', '2');
    $program = with(['POOL_MAX=2'], static fn () => working(2, '--timeout=1', '--sleep=0.05'));
    $program->says('~longer than 1 seconds.*longer than 1 seconds~s');
    same(0, $program->signal(SIGTERM)->status(), 'status');
    handled([], failed: 2);
};
$cases['work: a coroutine of a job fails'] = static function (): void {
    artisan('push', 'child fails');
    artisan('push', 'wait', '4', '2');
    $program = working(2, '--sleep=0.05', '--tries=5');
    $program->says('~a coroutine of a worker has failed, and the worker is started again: DomainException: in a coroutine of a job~');
    began(1, 2, 3, 4, 5);
    $program->says('~(?:Processed:| DONE$)(?:.*(?:Processed:| DONE$)){4}~ms');
    same(0, $program->signal(SIGTERM)->status(), 'status');
    handled([1, 2, 3, 4, 5]);
};
$cases['work: what cannot be worked'] = static function (): void {
    $program = working(2, '--no-such-option');
    same(1, $program->status(), 'status');
    $program = new Program([PHP_BINARY, ...php(), 'vendor/spindle/laravel/work.php', '--concurrency=2', '--no-such-option']);
    $program->says('~a worker does not get ready~');
    same(1, $program->status(), 'status');
    same(1, substr_count($program->said(), 'does not get ready'), 'how often it is said');
};

\Runner\meant($options, array_keys($cases));     // with --list that is all
$missing = missing('php-laravel-framework');
extension_loaded('pdo_pgsql') || $missing[] = 'pdo_pgsql is not installed';
if ($missing !== []) {
    echo 'SKIPPED: ', current($missing), "\n";
    \Runner\close(0, 0, 1);
}
laravelFolder(FOLDER, databaseEnvironment(WORK . '/servers', withRedis: extension_loaded('redis')));
\Runner\run($options, $cases, failed: static fn () => last_of_log() . substr(artisan('handled'), 0, 0));
