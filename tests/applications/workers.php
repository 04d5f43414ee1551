<?php
/*
 * Asks applications of Symfony's kernel and of Slim in worker mode, 32 requests at once, and in application mode, with 16 instances,
 * what they answer under php-fpm. In application mode packages/symfony serves Symfony, and packages/psr15 Slim, too; symfony.php and
 * psr15.php have what else these packages do.
 *
 *   run --workers [--only GLOB] [--list] [--seeds "1 2"] [--rounds N] [--measure] [--keep]
 *
 * 32 visitors, each with cookies of its own, ask for the same pages as under php-fpm without Spindle: forms, sessions, a
 * login, uploads, streams, errors, scripts that exit. The status, the headers and the body of each answer must be equal, but
 * for the date, the names of sessions and tokens that are drawn. With Spindle this is repeated with coroutines in an order
 * that is drawn from each of the seeds.
 *
 * With --rounds each server is asked by that many groups of visitors, one after the other, and now and then by others that leave before
 * they are answered. What it takes of memory after the last one may be a tenth more than after the first 1,000 requests.
 *
 * With --measure nothing is compared: it prints what 16 instances take beside 16 processes of php-fpm, of memory and of processor time.
 *
 * Laravel, with a database, a queue and users in PostgreSQL, is served by packages/laravel in application mode; and by two workers of
 * `spindle serve`, while requests of others end with fatal errors, each of which ends a worker.
 *
 * The frameworks are the distribution's packages, unpacked (fetch) and not installed. The last line is
 * "workers: N passed, N failed, N skipped".
 */

declare(strict_types=1);

namespace Applications;

require dirname(__DIR__) . '/sapi/fastcgi.php';
require __DIR__ . '/symfony.php';
require __DIR__ . '/psr15.php';
require __DIR__ . '/laravel-folder.php';

const VISITORS = 32;
const SYMFONY = ['php-symfony-framework-bundle', 'php-symfony-twig-bundle', 'php-symfony-security-bundle', 'php-symfony-yaml', 'php-doctrine-orm'];
const RUNTIME = ['php-symfony-runtime', 'php-symfony-dotenv'];
/** What Symfony needs of the extension intl, where that is not installed. */
const INTL = ['php-symfony-polyfill-intl-grapheme', 'php-symfony-polyfill-intl-normalizer'];
/** Headers of the connection and of the moment. */
const LEFT_OUT = ['date', 'connection', 'transfer-encoding', 'status', 'keep-alive'];

define('WORK', \Runner\work('workers', isset($options['keep'])));
putenv('WORKER_MODE_FOLDER=' . WORK);
mkdir(WORK . '/sessions');
mkdir(WORK . '/symfony');
file_put_contents(WORK . '/file.bin', str_repeat(implode('', array_map(chr(...), range(0, 255))), 1000));
touch(WORK . '/file.bin', 1_700_000_000);

final readonly class Request
{
    /** @param array<string, string> $headers */
    public function __construct(public string $path, public string $method = 'GET', public string $body = '', public array $headers = []) {}

    public static function form(string $path, array $fields): self
    {
        return new self($path, 'POST', http_build_query($fields), ['Content-Type' => 'application/x-www-form-urlencoded']);
    }

    /** @param list<array{string, string, string}> $files name, name of the file, content */
    public static function upload(string $path, array $fields, array $files): self
    {
        $body = '';
        foreach ($fields as $name => $value) {
            $body .= "--limit\r\nContent-Disposition: form-data; name=\"$name\"\r\n\r\n$value\r\n";
        }
        foreach ($files as [$name, $file, $content]) {
            $body .= "--limit\r\nContent-Disposition: form-data; name=\"$name\"; filename=\"$file\"\r\nContent-Type: text/x-test\r\n\r\n$content\r\n";
        }
        return new self($path, 'POST', "$body--limit--\r\n", ['Content-Type' => 'multipart/form-data; boundary=limit']);
    }
}

/** An answer: headers as pairs of a lower-case name and a value, in order. */
final class Answer
{
    /** @param list<array{string, string}> $headers */
    public function __construct(public readonly int $status, public readonly array $headers, public readonly string $body) {}

    /** The value of a form's field in it. */
    public function field(string $name): string
    {
        return preg_match('/name="' . preg_quote($name) . '" value="([^"]*)"/', $this->body, $found) ? $found[1] : '';
    }

    /** What is compared: the headers in the order of their names. */
    public function __toString(): string
    {
        $lines = [];
        foreach ($this->headers as [$name, $value]) {
            // A server may tell the length where PHP does not; it is checked by the client then.
            if (!in_array($name, LEFT_OUT, true) && $name !== 'content-length') {
                $now = $name === 'expires' && abs(strtotime($value) - time()) < 3600;
                $lines[$name][] = $now ? 'NOW' : preg_replace(['/^(PHPSESSID=)[^;]+/', '/^(XSRF-TOKEN=)[^;]+; expires=[^;]+; Max-Age=\d+/', '/expires=[^;]+(?=; Max-Age=0)/'],
                    ['$1SESSION', '$1TOKEN; expires=LATER', 'expires=PAST'], "$value");
            }
        }
        ksort($lines);
        $text = "$this->status\n";
        foreach ($lines as $name => $values) {
            $text .= implode('', array_map(static fn (string $value) => "$name: $value\n", $values));
        }
        // Tokens are masked each time they are shown; what they are made of, and session ids, are drawn.
        $body = preg_replace(['/(name="(?:_csrf_token|token)" value=")[^"]*/', '~("_csrf\\\\/[^"]*":")[^"]*~', '/PHPSESSID":"[^"]*/', '~/php[A-Za-z0-9]{6}"~'],
            ['$1TOKEN', '$1TOKEN', 'PHPSESSID":"SESSION', '/phpXXXXXX"'], $this->body);
        return "$text\n$body";
    }
}

/** Keeps the cookies of a visitor, and adds them to its requests. */
final class Visitor
{
    /** @var array<string, string> */
    private array $cookies = [];
    /** @var list<Answer> */
    public array $answers = [];
    /** @var list<string> */
    public array $asked = [];

    /** @param \Generator<int, Request, Answer, void> $requests */
    public function __construct(public readonly int $number, private readonly \Generator $requests) {}

    public function next(): ?Request
    {
        if (!$this->requests->valid()) {
            return null;
        }
        $request = $this->requests->current();
        $this->asked[] = "$request->method $request->path";
        $headers = $request->headers + ['Host' => 'applications.test', 'User-Agent' => "visitor $this->number", 'X-N' => "n$this->number",
            'Accept' => 'text/html, application/json;q=0.9'];
        if ($this->cookies !== []) {
            $headers['Cookie'] = implode('; ', array_map(static fn ($name, $value) => "$name=$value", array_keys($this->cookies), $this->cookies));
        }
        return new Request($request->path, $request->method, $request->body, $headers);
    }

    public function answered(Answer $answer): void
    {
        $this->answers[] = $answer;
        foreach ($answer->headers as [$name, $value]) {
            if ($name === 'set-cookie' && preg_match('/^([^=]+)=([^;]*)/', $value, $found)) {
                $this->cookies[$found[1]] = $found[2];
                if ($found[2] === '' || $found[2] === 'deleted') {
                    unset($this->cookies[$found[1]]);
                }
            }
        }
        $this->requests->send($answer);
    }
}

/** @return \Generator<int, Request, Answer, void> */
function slim(int $n): \Generator
{
    yield new Request("/?n=v$n");
    yield new Request("/hello/guest$n?n=v$n");
    yield new Request("/count?n=v$n");
    yield new Request("/count?n=w$n");
    yield Request::form("/form?n=v$n", ['n' => $n, 'text' => "ä & $n"]);
    yield new Request("/json?n=v$n", 'POST', json_encode(['n' => $n, 'list' => range(0, $n)]), ['Content-Type' => 'application/json']);
    yield Request::upload("/upload?n=v$n", ['f' => "v$n"], [['one', "file$n.txt", str_repeat("v$n", 5000)], ['more[]', 'a.bin', "\0\r\n$n"], ['more[]', 'b.bin', '']]);
    yield new Request("/cookies?n=v$n");
    yield new Request("/cookies?n=w$n");
    yield new Request("/nothing/$n?n=v$n");
    yield new Request("/json?n=v$n");
    yield new Request("/fails?n=v$n");
    yield new Request("/left/v$n?n=v$n");
    yield new Request("/printed?n=v$n");
    yield new Request("/stream?n=v$n");
    yield new Request("/item/$n?n=v$n", 'PUT', "body$n");
    yield new Request("/item/$n?n=v$n", 'DELETE');
    yield new Request("/hello/guest$n?n=v$n", 'HEAD');
    yield new Request("/count?n=x$n");
}

/** @return \Generator<int, Request, Answer, void> */
function symfony(int $n): \Generator
{
    yield new Request("/?n=v$n");
    yield new Request("/hello/guest$n?n=v$n");
    yield new Request("/account?n=v$n");
    $login = yield new Request("/login?n=v$n");
    yield Request::form("/login?n=v$n", ['_username' => "user$n", '_password' => 'wrong', '_csrf_token' => $login->field('_csrf_token')]);
    $login = yield new Request("/login?n=v$n");
    yield Request::form("/login?n=v$n", ['_username' => "user$n", '_password' => "secret$n", '_csrf_token' => $login->field('_csrf_token')]);
    yield new Request("/account?n=v$n");
    yield new Request("/even?n=v$n");
    yield new Request("/count?n=v$n");
    yield new Request("/count?n=w$n");
    $form = yield new Request("/form?n=v$n");
    yield Request::form("/form?n=v$n", ['token' => 'wrong', 'f' => ['n' => "$n"]]);
    yield Request::form("/form?n=v$n", ['token' => $form->field('token'), 'f' => ['n' => "$n", 'list' => ['a', 'ä']]]);
    yield new Request("/form?n=v$n");
    yield new Request("/form?n=v$n");
    yield new Request("/json?n=v$n", 'POST', json_encode(['n' => $n, 'list' => range(0, $n)]), ['Content-Type' => 'application/json']);
    yield new Request("/json?n=v$n", 'POST', '{malformed', ['Content-Type' => 'application/json']);
    yield new Request("/cookies?n=v$n");
    yield new Request("/cookies?n=w$n");
    yield new Request("/stream?n=v$n");
    yield new Request("/file?n=v$n");
    yield new Request("/file?n=v$n", 'GET', '', ['Range' => "bytes=$n-" . 1000 * $n + 500]);
    yield new Request("/file?n=v$n", 'GET', '', ['Range' => 'bytes=999999999-']);
    yield new Request("/cached?n=v$n");
    yield new Request("/cached?n=v$n", 'GET', '', ['If-None-Match' => '"' . md5("v$n") . '"']);
    yield Request::upload("/upload?n=v$n", ['f' => "v$n"], [['one', "file$n.txt", str_repeat("v$n", 5000)], ['more[]', 'a.bin', "\0\r\n$n"]]);
    yield new Request("/fails?n=v$n");
    yield new Request("/teapot?n=v$n");
    yield new Request("/nothing/$n?n=v$n");
    yield new Request("/forward?n=v$n");
    yield new Request("/printed?n=v$n");
    yield new Request("/left/v$n?n=v$n");
    yield new Request("/warned?n=v$n");
    yield Request::form("/globals?n=v$n&a[]=1&a[x]=2", ['p' => "v$n", 'q' => ['r' => "$n"]]);
    yield new Request("/globals?n=v$n", 'PUT', "input$n", ['Content-Type' => 'text/plain', 'Authorization' => 'Basic ' . base64_encode("user$n:secret$n")]);
    yield new Request("/item/$n?n=v$n", 'PUT');
    yield new Request("/item/$n?n=v$n", 'DELETE');
    yield Request::form("/item/$n?n=v$n", ['_method' => 'DELETE']);
    yield new Request("/item/$n?n=v$n");
    yield new Request("/hello/guest$n?n=v$n", 'HEAD');
    yield new Request("/count?n=x$n");
    yield new Request("/logout?n=v$n");
    yield new Request("/account?n=v$n");
    yield new Request("/account?n=v$n", 'GET', '', ['Authorization' => 'Basic ' . base64_encode("user$n:secret$n")]);
    yield new Request("/account?n=v$n", 'GET', '', ['Authorization' => 'Basic ' . base64_encode("user$n:wrong")]);
}

/** By packages/symfony: with what the runtime and the kernel do between requests. @return \Generator<int, Request, Answer, void> */
function symfony_runtime(int $n): \Generator
{
    yield from symfony($n);
    yield new Request("/notes/v$n?n=v$n");
    yield new Request("/forgotten/v$n?n=v$n");
    yield new Request("/notes/v$n?n=v$n");
    yield new Request("/settings?n=v$n");
    yield new Request("/broken?n=v$n");
    yield new Request("/unshown?n=v$n");
    if ($n < 2) {
        yield new Request("/forever?n=v$n");
    }
    yield new Request("/notes/v$n?n=v$n");
}

/** @return \Generator<int, Request, Answer, void> */
function laravel(int $n): \Generator
{
    yield new Request("/?n=v$n");
    yield new Request("/hello/guest$n?n=v$n");
    yield new Request("/count?n=v$n");
    yield new Request("/count?n=w$n");
    yield new Request("/notes/v$n?n=v$n");
    yield new Request("/transaction/v$n?n=v$n");
    yield new Request("/view/v$n?n=v$n");
    yield new Request("/open/v$n?n=v$n");
    yield new Request("/queued/v$n?n=v$n");
    yield new Request("/after/v$n?n=v$n");
    yield new Request("/later/v$n?n=v$n");
    yield new Request("/server?n=v$n");
    $form = yield new Request("/form?n=v$n");
    yield Request::form("/form?n=v$n", ['_token' => 'wrong', 'text' => "ä & $n"]);
    yield Request::form("/form?n=v$n", ['_token' => $form->field('token'), 'text' => "ä & $n"]);
    yield Request::form("/form?n=v$n", ['_token' => $form->field('token'), 'text' => '']);
    yield new Request("/form?n=v$n");
    yield new Request("/json?n=v$n", 'POST', json_encode(['n' => $n, 'list' => range(0, $n)]), ['Content-Type' => 'application/json']);
    yield new Request("/account?n=v$n");
    yield Request::form("/login?n=v$n", ['_token' => $form->field('token'), 'name' => "user$n", 'password' => 'wrong']);
    yield Request::form("/login?n=v$n", ['_token' => $form->field('token'), 'name' => "user$n", 'password' => "secret$n"]);
    yield new Request("/account?n=v$n");
    yield new Request("/open/w$n?n=v$n");
    yield new Request("/words/" . ['en', 'de'][$n % 2] . "?n=v$n");
    yield new Request("/locale?n=v$n");
    yield new Request("/cookies?n=v$n");
    yield new Request("/cookies?n=w$n");
    yield Request::upload("/upload?n=v$n", ['f' => "v$n", '_token' => $form->field('token')], [['one', "file$n.txt", str_repeat("v$n", 5000)]]);
    yield new Request("/fails?n=v$n");
    yield new Request("/missing/v$n?n=v$n");
    yield new Request("/nothing/$n?n=v$n");
    yield new Request("/stream?n=v$n");
    yield new Request("/left/v$n?n=v$n");
    yield new Request("/hello/guest$n?n=v$n", 'HEAD');
    yield new Request("/count?n=x$n");
    yield new Request("/logout?n=v$n");
    yield new Request("/account?n=v$n");
    yield new Request("/basic?n=v$n", 'GET', '', ['Authorization' => 'Basic ' . base64_encode("user$n:secret$n")]);
    yield new Request("/basic?n=v$n", 'GET', '', ['Authorization' => 'Basic ' . base64_encode("user$n:wrong")]);
    yield new Request("/account?n=v$n");
}

/** @return list<Visitor> */
function visitors(string $application): array
{
    $requests = __NAMESPACE__ . '\\' . preg_replace('/^psr15_.*/', 'slim', $application);
    return array_map(static fn (int $n) => new Visitor($n, $requests($n)), range(0, VISITORS - 1));
}

/** Settings of PHP that are the same for both. */
function settings(string $application): array
{
    $settings = ['include_path' => '.:' . LIBRARIES, 'session.save_path' => WORK . '/sessions', 'session.gc_probability' => '0', 'date.timezone' => 'UTC',
        'display_errors' => '0', 'log_errors' => '1', 'error_log' => WORK . "/$application.log",
        'error_reporting' => (string) (E_ALL & ~E_DEPRECATED & ~E_USER_DEPRECATED), 'variables_order' => 'EGPCS', 'upload_tmp_dir' => WORK,
        'auto_prepend_file' => ''];
    $modules = [];
    foreach (['ctype', 'mbstring', 'pdo', 'pdo_sqlite', 'pdo_pgsql', 'dom', 'xml', 'simplexml', 'tokenizer', 'iconv', 'fileinfo', 'posix', 'pcntl', 'intl'] as $name) {
        if (is_file(PHP_EXTENSION_DIR . "/$name.so")) {
            $modules[] = "extension=$name";
        }
    }
    return [...$modules, ...$settings];
}

/** Returns a php-fpm for an application, and the script that it is asked for. @return array{\Sapi\Fpm, string} */
function fpm(string $application, int $children = 1): array
{
    $program = current(glob('/usr/sbin/php-fpm' . PHP_MAJOR_VERSION . '.' . PHP_MINOR_VERSION)) ?: '/usr/sbin/php-fpm';
    // What packages/psr15 serves is compared with what Slim makes of the request and sends itself.
    putenv('WORKER_MODE_APPLICATION=' . preg_replace('/^psr15_.*/', 'slim', $application));
    $fpm = new \Sapi\Fpm($program, WORK, ['zend_extension=opcache', 'output_buffering' => '4096', ...settings($application)], ['clear_env' => 'no', 'pm.max_children' => (string) $children]);
    $script = match ($application) {
        'symfony_runtime' => WORK . '/symfony/public/index.php',
        'laravel' => WORK . '/laravel/public/index.php',
        default => __DIR__ . '/worker-mode/front.php',
    };
    return [$fpm, $script];
}

/** Has a visitor ask php-fpm for its next page. Returns false if it has none. */
function nextOf(Visitor $visitor, \Sapi\Connection $connection, string $script): bool
{
    if (!$request = $visitor->next()) {
        return false;
    }
    $headers = [];
    foreach ($request->headers as $name => $value) {
        $headers[(strcasecmp($name, 'Content-Type') ? 'HTTP_' : '') . strtoupper(strtr($name, '-', '_'))] = $value;
    }
    [$path, $query] = explode('?', $request->path) + [1 => ''];
    $answer = $connection->get($script, $query, $request->body, $headers + ['REQUEST_METHOD' => $request->method, 'REQUEST_URI' => $request->path,
        'SCRIPT_NAME' => '/' . basename($script), 'DOCUMENT_ROOT' => dirname($script), 'CONTENT_TYPE' => '', 'REQUEST_SCHEME' => 'http',
        'SERVER_NAME' => 'applications.test', 'SERVER_PORT' => '80', 'CONTENT_LENGTH' => $request->body === '' ? '' : (string) strlen($request->body)])
        ?? \Runner\fail("php-fpm has not answered $request->path");
    $lines = array_filter(explode("\r\n", $answer->headers));
    $pairs = array_map(static fn (string $line) => [strtolower(strstr($line, ':', true)), ltrim(substr(strstr($line, ':'), 1))], array_values($lines));
    // Servers send no bodies that must not be.
    $body = $request->method === 'HEAD' || in_array($answer->status, [204, 304], true) ? '' : $answer->body;
    $visitor->answered(new Answer($answer->status, $pairs, $body));
    return true;
}

/** @return list<Visitor> that have been answered by php-fpm, one after the other */
function underFpm(string $application): array
{
    [$fpm, $script] = fpm($application);
    $all = visitors($application);
    foreach ($all as $visitor) {
        $connection = $fpm->connect();
        while (nextOf($visitor, $connection, $script));
    }
    return $all;
}

/** Returns the memory of a process and its children in kilobytes (the proportional set size). */
function memory(int $pid): int
{
    $children = preg_split('/\s+/', (string) @file_get_contents("/proc/$pid/task/$pid/children"), flags: PREG_SPLIT_NO_EMPTY);
    preg_match('/^Pss:\s+(\d+)/m', (string) @file_get_contents("/proc/$pid/smaps_rollup"), $found);
    return (int) ($found[1] ?? 0) + array_sum(array_map(static fn (string $child) => memory((int) $child), $children));
}

/** Starts a server in this mode. @return array{resource, array<int, resource>, string} the process, its pipes, and the server's address */
function server(string $mode, string $application, int $seed): array
{
    $command = [PHP_BINARY, '-n', '-d', 'extension=' . EXTENSION, '-d', 'zend_extension=opcache', '-d', 'opcache.enable_cli=1', '-d', "async.seed=$seed"];
    foreach (settings($application) as $key => $value) {
        array_push($command, '-d', is_int($key) ? $value : "$key=$value");
    }
    $server = proc_open([...$command, __DIR__ . '/worker-mode/serve.php'], [['pipe', 'r'], ['pipe', 'w'], ['file', WORK . '/stderr', 'a']], $pipes,
        env_vars: ['WORKER_MODE' => $mode, 'WORKER_MODE_APPLICATION' => $application] + getenv());
    $address = trim((string) fgets($pipes[1])) ?: \Runner\fail('the server does not start: ' . file_get_contents(WORK . '/stderr') . @file_get_contents(WORK . "/$application.log"));
    return [$server, $pipes, $address];
}

/** Stops a server. @param resource $server @param array<int, resource> $pipes @return array{string, int} what it says at its end, and its status */
function stop($server, array $pipes): array
{
    proc_terminate($server, SIGTERM);
    return [trim(stream_get_contents($pipes[1])), proc_close($server)];
}

/** @return array{list<Visitor>, string} that have been answered by two workers of `spindle serve`, while requests of others have fatal errors; and what is wrong */
function whileOthersDie(string $application, int $rounds): array
{
    $command = [dirname(EXTENSION) . '/spindle', 'serve', ROOT . "/packages/$application/serve.php", '--mode', 'application', '--instances', '16', '--workers', '2',
        // On a busy machine a worker may take longer to boot than requests wait for one usually.
        '--set', 'queue_timeout=0', '--listen', '127.0.0.1:0', '--log', 'off', '--php', PHP_BINARY, '--extension', EXTENSION];
    foreach (settings($application) as $key => $value) {
        array_push($command, '-d', is_int($key) ? $value : "$key=$value");
    }
    $server = new Program($command, WORK . "/$application", []);
    \Sapi\until("it serves: {$server->said()}", static fn () => preg_match('~at http://(\S+)/~', $server->said()) || !$server->isRunning());
    preg_match('~at http://(\S+)/~', $server->said(), $found) || \Runner\fail("the server does not start: {$server->said()}");
    $every = $wrong = [];
    $count = 0;
    for ($round = 0; $round < $rounds; $round++) {
        $all = visitors($application);
        $dies = new Visitor(VISITORS, (static function (): \Generator {
            for ($n = 0; $n < 10; $n++) {
                yield new Request("/ends/memory?n=$n");
            }
        })());
        ask([...$all, $dies], $found[1], false);
        array_push($every, ...$all);
        foreach ($dies->answers as $answer) {
            $answer->status === 500 ? $count++ : $wrong[] = "A request with a fatal error is answered $answer";
        }
    }
    $server->signal(SIGTERM);
    $status = $server->status();
    $status === 0 && $count === 10 * $rounds || $wrong[] = "status $status, $count fatal errors\n{$server->said()}";
    return [$every, implode("\n", $wrong)];
}

/** @return array{list<Visitor>, string} that have been answered in this mode, a group after the other, each all at once; and what the server says at its end */
function inMode(string $mode, string $application, int $seed, int $rounds): array
{
    [$server, $pipes, $address] = server($mode, $application, $seed);
    $pid = proc_get_status($server)['pid'];
    $every = $memory = [];
    for ($round = 0, $count = 0; $round < $rounds; $round++) {
        $all = visitors($application);
        ask($all, $address, $rounds > 1);
        array_push($every, ...$all);
        $count += array_sum(array_map(static fn (Visitor $visitor) => count($visitor->answers), $all));
        $count >= 1000 && $memory[] = memory($pid);
    }
    [$rest, $status] = stop($server, $pipes);
    if ($rounds > 1) {
        $says = sprintf('%s MB after each round, of %d requests in all', implode(' ', array_map(static fn (int $kilobytes) => sprintf('%.1f', $kilobytes / 1024), $memory)), $count);
        echo "      $says\n";
        if (end($memory) > 1.1 * $memory[0]) {
            $rest = "$says: it grows\n$rest";
        }
    }
    return [$every, $status ? "status $status\n$rest\n" . file_get_contents(WORK . '/stderr') : $rest];
}

/** Has visitors ask all at once. @param list<Visitor> $all */
function ask(array $all, string $address, bool $with_others): void
{
    $multi = curl_multi_init();
    $under_way = [];
    $ask = static function (Visitor $visitor) use ($multi, $address, &$under_way): void {
        if (!$request = $visitor->next()) {
            return;
        }
        $curl = curl_init("http://$address$request->path");
        $headers = $received = [];
        foreach ($request->headers + ['Content-Type' => '', 'Expect' => ''] as $name => $value) {
            $headers[] = $value === '' ? "$name:" : "$name: $value";
        }
        curl_setopt_array($curl, [CURLOPT_RETURNTRANSFER => true, CURLOPT_HTTPHEADER => $headers, CURLOPT_TIMEOUT => 120, CURLOPT_NOBODY => $request->method === 'HEAD',
            CURLOPT_HEADERFUNCTION => static function ($curl, string $line) use (&$received): int {
                if (str_contains($line, ':')) {
                    $received[] = [strtolower(strstr($line, ':', true)), trim(substr(strstr($line, ':'), 1))];
                }
                return strlen($line);
            }]);
        if ($request->method !== 'GET' && $request->method !== 'HEAD') {
            curl_setopt_array($curl, [CURLOPT_CUSTOMREQUEST => $request->method] + ($request->body === '' ? [] : [CURLOPT_POSTFIELDS => $request->body]));
        }
        curl_multi_add_handle($multi, $curl);
        $under_way[spl_object_id($curl)] = [$curl, $visitor, &$received];
    };
    array_map($ask, $all);
    $leaves = static function (int $n) use ($multi, $address): void {
        $curl = curl_init("http://$address/hello/nobody?n=left$n");
        curl_setopt_array($curl, [CURLOPT_RETURNTRANSFER => true, CURLOPT_TIMEOUT_MS => 1 + $n % 20]);
        curl_multi_add_handle($multi, $curl);
    };
    while ($under_way !== []) {
        curl_multi_exec($multi, $running);
        while ($done = curl_multi_info_read($multi)) {
            if (!isset($under_way[spl_object_id($done['handle'])])) {
                curl_multi_remove_handle($multi, $done['handle']);
                continue;
            }
            [$curl, $visitor, $received] = $under_way[spl_object_id($done['handle'])];
            unset($under_way[spl_object_id($curl)]);
            $body = (string) curl_multi_getcontent($curl);
            curl_multi_remove_handle($multi, $curl);
            $why = $done['result'] === CURLE_OK ? '' : "\n" . curl_strerror($done['result']) . "\n" . file_get_contents(WORK . '/stderr');
            $visitor->answered(new Answer(curl_getinfo($curl, CURLINFO_RESPONSE_CODE), $received, "$body$why"));
            $ask($visitor);
            $with_others && $leaves(random_int(0, 1000));
        }
        $running && curl_multi_select($multi, 1);
    }
}

/** Returns the processor time in milliseconds that processes have taken. */
function processorTime(int ...$pids): float
{
    return array_sum(array_map(static fn (int $pid) => (int) strtok(file_get_contents("/proc/$pid/schedstat"), ' '), $pids)) / 1e6;
}

/** Prints what php-fpm with 16 processes and a server with 16 instances take for the same pages, each asked for by 32 visitors first. */
function measure(string $application): void
{
    $page = static fn (int $n) => new Request("/hello/guest$n?n=v$n");
    $pages = static function (int $count) use ($page): \Generator {
        for ($n = 0; $n < $count; $n++) {
            yield $page($n);
        }
    };
    // A connection stays with one process of php-fpm, which closes one that nothing comes from for five seconds: all in turn.
    [$fpm, $script] = fpm($application, 16);
    $connections = array_map(static fn () => $fpm->connect(), range(1, 16));
    for ($visitors = visitors($application); $visitors !== [];) {
        $visitors = array_filter($visitors, static fn (Visitor $visitor) => nextOf($visitor, $connections[$visitor->number % 16], $script));
    }
    $of_fpm = memory($fpm->master());
    $one = new Visitor(0, $pages(600));
    for ($n = 0; nextOf($one, $connections[0], $script); $n++) {
        $n === 99 && $before = processorTime(...$fpm->workers());
    }
    $time_of_fpm = (processorTime(...$fpm->workers()) - $before) / 500;
    unset($connections, $fpm);
    [$server, $pipes, $address] = server('application', $application, 0);
    $pid = proc_get_status($server)['pid'];
    ask(visitors($application), $address, false);
    $of_server = memory($pid);
    ask([new Visitor(0, $pages(100))], $address, false);
    $before = processorTime($pid);
    ask([new Visitor(0, $pages(500))], $address, false);
    $time = (processorTime($pid) - $before) / 500;
    stop($server, $pipes);
    // Where a page waits once or more, for 100 ms each time: 64 visitors at once.
    putenv('WORKER_MODE_PAUSE=100000');
    [$server, $pipes, $address] = server('application', $application, 0);
    ask(array_map(static fn (int $n) => new Visitor($n, $pages(2)), range(0, 63)), $address, false);
    $since = hrtime(true);
    ask(array_map(static fn (int $n) => new Visitor($n, $pages(5)), range(0, 63)), $address, false);
    $waiting = 320 / ((hrtime(true) - $since) / 1e9);
    stop($server, $pipes);
    putenv('WORKER_MODE_PAUSE');
    printf("%s: memory %.1f MB by instances, %.1f MB by php-fpm (1/%.1f); %.2f ms a request, %.2f ms by php-fpm (%.2f); with 100 ms for each wait %.0f requests a second\n", $application,
        $of_server / 1024, $of_fpm / 1024, $of_fpm / $of_server, $time, $time_of_fpm, $time / $time_of_fpm, $waiting);
}

$runtime = [...RUNTIME, ...is_file(PHP_EXTENSION_DIR . '/intl.so') ? [] : INTL];
$applications = ['slim' => ['php-slim'], 'psr15_nyholm' => ['php-slim', 'php-nyholm-psr7'], 'psr15_guzzle' => ['php-slim', 'php-guzzlehttp-psr7'], 'psr15_slim' => ['php-slim', 'php-slim-psr7'],
    'psr15_bodies' => ['php-nyholm-psr7', 'php-guzzlehttp-psr7'], 'laravel' => ['php-laravel-framework'], 'symfony' => SYMFONY, 'symfony_runtime' => [...SYMFONY, ...$runtime], 'symfony_serve' => [...SYMFONY, ...$runtime],
    'symfony_messenger' => ['php-symfony-framework-bundle', ...$runtime, 'php-symfony-messenger', 'php-symfony-doctrine-messenger', 'php-symfony-redis-messenger', 'php-symfony-console', 'php-doctrine-dbal', 'php-doctrine-persistence']];
$applications = array_intersect_key($applications, array_flip(\Runner\meant($options, array_keys($applications))));
$missing = missing(...array_merge(...array_values($applications)));
$passed = $failed = $skipped = 0;
foreach ($applications as $name => $packages) {
    $lacks = array_filter($missing, static fn (string $line) => in_array(strstr($line, ':', true), $packages, true));
    if ($lacks !== []) {
        echo "SKIPPED: $name: ", current($lacks), "\n";
        $skipped++;
        continue;
    }
    if (in_array($name, ['symfony_serve', 'symfony_messenger', 'psr15_bodies'], true)) {
        try {
            $said = (__NAMESPACE__ . "\\$name")();
            echo "ok    $name: $said\n";
            $passed++;
        } catch (Wrong $wrong) {
            echo "FAIL  $name: {$wrong->getMessage()}\n";
            $failed++;
        }
        continue;
    }
    $name === 'symfony_runtime' && project(WORK . '/symfony', 'symfony');
    $name === 'laravel' && laravelFolder(WORK . '/laravel', databaseEnvironment(WORK . '/servers'));
    if (isset($options['measure'])) {
        measure($name);
        continue;
    }
    $expected = underFpm($name);
    $first = $expected[0]->answers[0];
    $first->status === 200 || \Runner\fail("$name does not work under php-fpm: $first " . @file_get_contents(WORK . "/$name.log"));
    $runs = [];
    foreach (explode(' ', $options['seeds'] ?? '0 1 2') as $seed) {
        // Laravel keeps its application in static properties. It and Symfony are served in application mode by their packages.
        $modes = ['laravel' => ['application', 'replaced'], 'symfony' => ['worker'], 'symfony_runtime' => ['application']][$name] ?? (str_starts_with($name, 'psr15_') ? ['application'] : ['worker', 'application']);
        array_push($runs, ...array_map(static fn (string $mode) => [$mode, (int) $seed], $modes));
    }
    foreach ($runs as [$mode, $seed]) {
        $rounds = (int) ($options['rounds'] ?? 1);
        [$found, $rest] = $mode === 'replaced' ? whileOthersDie($name, $rounds) : inMode($mode, $name, $seed, $rounds);
        $differ = [];
        foreach ($found as $n => $asked) {
            $visitor = $expected[$n % VISITORS];
            foreach ($visitor->answers as $i => $answer) {
                $other = (string) ($asked->answers[$i] ?? 'no answer');
                if ((string) $answer !== $other) {
                    $differ[preg_replace('/[\d?].*/', '', $visitor->asked[$i])] ??= "visitor $n, {$visitor->asked[$i]}:\n--- php-fpm\n" . substr((string) $answer, 0, 800) . "\n--- $mode mode\n" . substr($other, 0, 800);
                }
            }
        }
        $at_once = preg_match('/^(\d+) at once, 0 left$/', $rest, $most) ? (int) $most[1] : 0;
        if ($differ === [] && ($mode === 'replaced' ? $rest === '' : $at_once >= ($mode === 'application' ? 12 : VISITORS / 2))) {
            $passed++;
            $answers = array_sum(array_map(static fn (Visitor $v) => count($v->answers), $found));
            echo $mode === 'replaced' ? "ok    $name, while workers die: $answers answers\n" : "ok    $name, $mode mode, order $seed: $answers answers, $at_once at once\n";
        } else {
            $failed++;
            echo "FAIL  $name, $mode mode, order $seed: ", count($differ), " paths are answered differently; $rest\n", implode("\n", $differ), "\n",
                "the end of the log:\n", substr((string) @file_get_contents(WORK . "/$name.log"), -4000), "\n";
        }
    }
}
\Runner\close($passed, $failed, $skipped, 'workers');
