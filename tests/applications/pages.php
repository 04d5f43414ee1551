<?php
/*
 * Fetches pages of WordPress and phpMyAdmin through php-fpm, on stock PHP and with Spindle, and compares them.
 *
 *   run --pages [--only GLOB] [--list] [--keep]
 *
 * Each application is installed afresh, with a database of its own, four times: stock PHP twice, Spindle loaded and not
 * used, and Spindle with coroutines in each request, of a script that is prepended to it (company.php), so that every
 * call of it that waits gives way. All are asked for the same pages, forms sent included. Status, headers and bodies must
 * be equal byte by byte, but for the words in which runs on stock PHP differ (up to six of them, where a difference is seen)
 * and for times of day and random tokens, wherever they are.
 *
 * The applications are the distribution's packages, unpacked (fetch) and not installed. The last line is
 * "pages: N passed, N failed, N skipped".
 */

declare(strict_types=1);

namespace Applications;

use function Sapi\until;

require dirname(__DIR__) . '/sapi/fastcgi.php';

const SHARE = STORE . '/unpacked/usr/share';
$names = array_map(static fn (string $file) => substr(basename($file, '.php'), strlen('pages-of-')), glob(__DIR__ . '/pages-of-*.php'));
$names = \Runner\meant($options, $names);
define('WORK', \Runner\work('pages', isset($options['keep'])));
$unexpected = false;
register_shutdown_function(static function () use ($options, &$unexpected): void {
    exec(escapeshellarg(ROOT . '/scripts/servers') . ' stop ' . escapeshellarg(WORK . '/servers'));
    \Runner\remove(WORK . '/share', WORK . '/servers', WORK . '/spindle.so');
    if ($unexpected && !isset($options['keep'])) {
        \Runner\keep_outputs('pages', WORK);
    }
});
copy(EXTENSION, WORK . '/spindle.so');

/** One who visits pages: keeps cookies, and remembers the answers. */
final class Visitor
{
    /** @var array<string, string> what came, by the page's name */
    public array $answers = [];
    public string $body = '';
    /** @var array<string, string> */
    private array $cookies = [];

    public function __construct(private readonly \Sapi\Fpm $fpm, private readonly string $folder)
    {
    }

    /** @param array<string, mixed> $fields of a form, which is sent where there are any */
    public function visit(string $path, array $fields = [], ?string $body = null): string
    {
        [$script, $query] = explode('?', $path, 2) + [1 => ''];
        $file = $this->folder . $script . (str_ends_with($script, '/') ? 'index.php' : '');
        $body ??= $fields === [] ? '' : http_build_query($fields);
        $cookies = [];
        foreach ($this->cookies as $name => $value) {
            $cookies[] = "$name=$value";
        }
        $answer = $this->fpm->connect()->get($file, $query, $body, [
            'SCRIPT_NAME' => substr($file, strlen($this->folder)), 'REQUEST_URI' => $path, 'HTTP_HOST' => 'applications.test',
            'SERVER_NAME' => 'applications.test', 'SERVER_PORT' => '80', 'DOCUMENT_ROOT' => $this->folder,
            'HTTP_USER_AGENT' => 'visitor', 'HTTP_ACCEPT_LANGUAGE' => 'en', 'HTTP_COOKIE' => implode('; ', $cookies),
            'CONTENT_TYPE' => $body === '' ? '' : ($fields === [] ? 'text/xml' : 'application/x-www-form-urlencoded'),
        ]);
        if ($answer === null) {
            $this->answers["$path #" . count($this->answers)] = 'the connection has ended without an answer';
            return $this->body = '';
        }
        preg_match_all('/^Set-Cookie: ([^=]+)=([^;\r\n]*)/mi', $answer->headers, $found, PREG_SET_ORDER);
        foreach ($found as [, $name, $value]) {
            $this->cookies[$name] = $value;
            if ($value === '' || $value === 'deleted' || trim($value) === '+') {
                unset($this->cookies[$name]);
            }
        }
        $name = preg_replace('/(nonce|token)=[^&]+/', '$1', $path);
        $this->answers[count($this->answers) + 1 . " $name"] = "$answer->status\n$answer->headers\n\n$answer->body\n$answer->errors";
        return $this->body = $answer->body;
    }

    /** The value of a form's field on the page that came last. */
    public function field(string $name): string
    {
        $is_there = preg_match('/<input[^>]*name="' . preg_quote($name) . '"[^>]*value="([^"]*)"/', $this->body, $found);
        return $is_there ? html_entity_decode($found[1]) : '';
    }
}

/** Settings of php-fpm. */
function settings(string $way): array
{
    $settings = ['include_path' => '.:' . LIBRARIES, 'date.timezone' => 'UTC', 'session.save_path' => WORK . '/sessions',
        'session.gc_probability' => '0', 'display_errors' => '1', 'html_errors' => '0', 'output_buffering' => '4096',
        'memory_limit' => '256M', 'max_execution_time' => '0', 'sendmail_path' => '/bin/true',
        'error_reporting' => (string) (E_ALL & ~E_DEPRECATED)];
    $modules = [];
    foreach (['mysqlnd', 'mysqli', 'ctype', 'mbstring', 'dom', 'xml', 'simplexml', 'xmlreader', 'tokenizer', 'iconv',
        'fileinfo', 'gettext', 'exif', 'gd', 'curl', 'posix'] as $name) {
        if (is_file(PHP_EXTENSION_DIR . "/$name.so")) {
            $modules[] = "extension=$name";
        }
    }
    array_unshift($modules, 'zend_extension=opcache');
    if ($way === 'loaded' || $way === 'used') {
        $modules[] = 'extension=' . WORK . '/spindle.so';
    }
    $settings['auto_prepend_file'] = __DIR__ . ($way === 'used' ? '/company.php' : '/seeded.php');
    return [...$modules, ...$settings];
}

/** What is random or of the time, also where two runs agree on it. */
function masked(string $answer): string
{
    // Characters of addresses are written as numbers at random.
    $answer = preg_replace_callback('/&#0?(\d{2,3});/', static fn (array $found) => mb_chr((int) $found[1]), $answer);
    return preg_replace([
        '/\b[0-9a-f]{10}\b|\b[0-9a-f]{32}\b|\b[0-9a-f]{40}\b|\b[0-9a-f]{64}\b/', // nonces, tokens
        '/\b\d{7,10}(\.\d+)?\b/', // random numbers, and seconds since 1970
        '/\b\d{1,2}:\d\d(:\d\d)?( ?[ap]m\b)?/i',
        '/\b[\d.]+ seconds?\b/',
        '/ data-pw="[^"]*"/', // a password that is suggested
    ], ['TOKEN', 'SECONDS', 'TIME', 'N seconds', ' data-pw'], $answer);
}

/** @return list<string> */
function words(string $answer): array
{
    return preg_split('/([\w.%:+\/=-]+)/', masked($answer), -1, PREG_SPLIT_DELIM_CAPTURE);
}

/**
 * Null if the answer is that of stock PHP, but for the words in which the answers of stock PHP differ; else where it first differs.
 *
 * @param list<string> $stock
 */
function difference(array $stock, string $answer): ?string
{
    $stock = array_map(words(...), $stock);
    $words = words($answer);
    foreach ($stock[0] as $i => $word) {
        if ($word !== ($words[$i] ?? null) && count(array_unique(array_column($stock, $i))) === 1) {
            $near = static fn (array $words) => '"' . implode(array_slice($words, max(0, $i - 10), 21)) . '"';
            return "{$near($stock[0])} on stock PHP, here {$near($words)}";
        }
    }
    $more = implode(array_slice($words, count($stock[0]), 20));
    return $more === '' ? null : "it has more at its end: \"$more\"";
}

/** @param list<string> $stock */
function is_unstable(array $stock): bool
{
    return count(array_unique(array_map(static fn (string $answer) => count(words($answer)), $stock))) > 1;
}

$mysql = static function (string $statement) use (&$server): void {
    $connection = new \mysqli($server['SPINDLE_MYSQL_HOST'], $server['SPINDLE_MYSQL_USER'],
        $server['SPINDLE_MYSQL_PASSWORD'], '', (int) $server['SPINDLE_MYSQL_PORT']);
    foreach (array_filter(array_map(trim(...), explode(';', $statement))) as $one) {
        $connection->query($one);
    }
};

$applications = [];
foreach ($names as $name) {
    $applications[$name] = require __DIR__ . "/pages-of-$name.php";
}
$packages = array_merge(...array_column($applications, 'packages'));
$missing = missing(...$packages);
$passed = $failed = $skipped = 0;
foreach ($missing as $line) {
    foreach ($applications as $name => $application) {
        if (in_array(strstr($line, ':', true), $application['packages'], true)) {
            echo "SKIPPED: $name: $line\n";
            $skipped++;
            unset($applications[$name]);
        }
    }
}
if ($applications !== []) {
    exec(escapeshellarg(ROOT . '/scripts/servers') . ' start ' . escapeshellarg(WORK . '/servers') . ' mariadb', result_code: $status);
    $status === 0 ?: \Runner\fail('there is no MariaDB');
    preg_match_all("/^export (\\w+)='?(.*?)'?$/m", file_get_contents(WORK . '/servers/env'), $found, PREG_SET_ORDER);
    $server = array_column($found, 2, 1);
    putenv('SPINDLE_PAGES_PASSWORD=' . $server['SPINDLE_MYSQL_PASSWORD']);
    $fpm = current(array_filter(glob('/usr/sbin/php-fpm' . PHP_MAJOR_VERSION . '.' . PHP_MINOR_VERSION))) ?: '/usr/sbin/php-fpm';
}

/** Installs an application and asks for all pages. @return array<string, string> */
$visit = static function (string $name, string $way, string $as) use ($applications, $mysql, $fpm, &$server): array {
    // A fresh copy by the same path, and its links into other packages.
    exec('rm -rf ' . escapeshellarg(WORK . '/share') . ' ' . escapeshellarg(WORK . '/sessions'));
    mkdir(WORK . '/share');
    mkdir(WORK . '/sessions');
    exec('cp -a ' . escapeshellarg(SHARE . "/$name") . ' ' . escapeshellarg(WORK . "/share/$name"));
    foreach (['php', 'javascript'] as $folder) {
        symlink(SHARE . "/$folder", WORK . "/share/$folder");
    }
    $mysql('drop database if exists pages; create database pages character set utf8mb4');
    $applications[$name]['install'](WORK . "/share/$name", $server, $mysql);
    $visitor = new Visitor(new \Sapi\Fpm($fpm, WORK, settings($way), ['clear_env' => 'no']), WORK . "/share/$name");
    $applications[$name]['visit']($visitor);
    mkdir(WORK . "/answers/$name/$as", recursive: true);
    foreach ($visitor->answers as $page => $answer) {
        file_put_contents(WORK . "/answers/$name/$as/" . preg_replace('/[^\w.-]+/', '_', $page), $answer);
    }
    return $visitor->answers;
};

putenv('SPINDLE_TURNS=' . WORK . '/turns');
foreach ($applications as $name => $application) {
    @unlink(WORK . '/turns');
    $stocks = [$visit($name, 'stock', 'stock-1'), $visit($name, 'stock', 'stock-2')];
    $answers = ['loaded' => $visit($name, 'loaded', 'loaded'), 'used' => $visit($name, 'used', 'used')];
    $stock = static function (string $page) use (&$stocks): array {
        return array_map(static fn (array $answers) => $answers[$page] ?? '', $stocks);
    };
    // What differs may be drawn from a few, or be of the minute: then it differs on stock PHP too, sooner or later.
    $differing = [];
    foreach ($answers as $way => $pages) {
        foreach (array_keys($stocks[0] + $pages) as $page) {
            $differing["$page, $way"] = [$page, $pages[$page] ?? ''];
        }
    }
    $is_different = static fn (array $one) => !is_unstable($stock($one[0])) && difference($stock($one[0]), $one[1]) !== null;
    while (count($stocks) < 6 && array_filter($differing, $is_different) !== []) {
        $stocks[] = $visit($name, 'stock', 'stock-' . count($stocks) + 1);
    }
    foreach ($differing as $title => [$page, $answer]) {
        if (is_unstable($stock($page))) {
            echo "unstable: $name: $title: not the same in two runs of stock PHP\n";
            $skipped++;
        } elseif (($difference = difference($stock($page), $answer)) === null) {
            $passed++;
        } else {
            $failed++;
            echo "DIFFERS: $name: $title: $difference\n";
        }
    }
    $good = count(preg_grep('/\A200\n/', $stocks[0]));
    $turns = is_file(WORK . '/turns') ? file(WORK . '/turns', FILE_IGNORE_NEW_LINES) : [];
    printf("%-12s %d pages, %d of them with status 200; %s bytes, %d times on stock PHP; "
        . "%d requests with coroutines, which had %d turns\n", $name, count($stocks[0]),
        $good, number_format(strlen(implode($stocks[0]))), count($stocks), count($turns), array_sum($turns));
    if ($good < $application['good'] || count($turns) < count($stocks[0]) / 2 || array_sum($turns) < count($turns)) {
        echo "TOO LITTLE: $name: fewer than $application[good] pages have status 200, or the coroutines had no turns\n";
        $failed++;
    }
}
$unexpected = $failed > 0;
\Runner\close($passed, $failed, $skipped, 'pages');
