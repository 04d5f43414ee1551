<?php

/**
 * Runs two programs twice, as plain PHP and with Spindle, and compares times and results: eight requests by Guzzle (`warehouse.php`,
 * `warehouse-async.php`), and the page of a shop (`dashboard.php`, `dashboard-async.php`). `make demo` builds an extension for it and
 * starts this.
 *
 *     php examples/demo.php
 *     DEMO_SERVERS=1 php examples/demo.php     also asks a PostgreSQL, a MariaDB and a Redis of its own
 *
 * All it needs it starts itself on free ports of 127.0.0.1 with a temporary folder, and ends and removes again, also
 * when interrupted. Exit status 0 means: the results are equal and both were faster with Spindle.
 */

declare(strict_types=1);

const ROOT = __DIR__ . '/..';

final class Interrupted extends Exception
{
}

/** A message on the way; results go to the standard output. */
function note(string $text): void
{
    static $terminal = null;
    $terminal ??= stream_isatty(STDERR);
    fwrite(STDERR, $terminal ? "\r\e[K$text\n" : "$text\n");
}

/** The same, in place on a terminal, and once a second elsewhere. */
function tick(string $text, float $seconds): void
{
    static $terminal = null, $last = null;
    $terminal ??= stream_isatty(STDERR);
    if ($terminal) {
        $spinner = '|/-\\'[(int) ($seconds * 10) % 4];
        fprintf(STDERR, "\r\e[K%s %s %.1f s", $spinner, $text, $seconds);
    } elseif ((int) $seconds !== $last && (int) $seconds > 0) {
        fprintf(STDERR, "%s %d s\n", $text, $seconds);
    }
    $last = (int) $seconds;
}

/**
 * Runs a program to its end, ticking meanwhile.
 *
 * @param list<string> $command
 * @param array<string, string> $environment
 * @return array{string, string, int, float} output, messages, exit status and seconds
 */
function run(string $title, array $command, array $environment): array
{
    $start = hrtime(true);
    $process = proc_open($command, [['file', '/dev/null', 'r'], ['pipe', 'w'], ['pipe', 'w']], $pipes, ROOT, $environment);
    $texts = [1 => '', 2 => ''];
    $ended = false;
    try {
        while ($open = array_filter($pipes, fn ($pipe) => !feof($pipe))) {
            $write = $except = null;
            // A signal interrupts the wait with a warning; its handler has its say right after.
            if (@stream_select($open, $write, $except, 0, 100_000)) {
                foreach ($open as $number => $pipe) {
                    $texts[$number] .= fread($pipe, 65536);
                }
            }
            tick($title, (hrtime(true) - $start) / 1e9);
        }
        $status = proc_close($process);
        $ended = true;
    } finally {
        if (!$ended) {
            proc_terminate($process);
            proc_close($process);
        }
    }
    return [$texts[1], $texts[2], $status, (hrtime(true) - $start) / 1e9];
}

/** Runs a page, and ends the demo when the page fails. @return array{mixed, string, float} result, JSON, seconds */
function page(string $title, array $command, array $environment): array
{
    [$json, $messages, $status, $seconds] = run($title, $command, $environment);
    $result = json_decode($json, true);
    if ($status !== 0 || $result === null) {
        throw new RuntimeException("$title: failed (exit status $status)\n" . rtrim($json . $messages));
    }
    if ($messages !== '') {
        note("$title says:\n" . rtrim($messages));
    }
    note(sprintf('%s done in %.2f s', $title, $seconds));
    return [$result, $json, $seconds];
}

function fill_sqlite(string $file): void
{
    $database = new PDO("sqlite:$file");
    $database->exec('CREATE TABLE products (sku TEXT PRIMARY KEY, name TEXT NOT NULL, cents INTEGER NOT NULL)');
    $database->exec('CREATE TABLE sales (sku TEXT NOT NULL, amount INTEGER NOT NULL)');
    $database->beginTransaction();
    $product = $database->prepare('INSERT INTO products VALUES (?, ?, ?)');
    $sale = $database->prepare('INSERT INTO sales VALUES (?, ?)');
    foreach (['apron', 'basket', 'candle', 'drum', 'easel', 'flute', 'globe', 'harp'] as $i => $sku) {
        $product->execute([$sku, ucfirst($sku), 500 + 700 * $i]);
        for ($n = 0; $n < 500; $n++) {
            $sale->execute([$sku, 1 + ($i * 7 + $n) % 5]);
        }
    }
    $database->commit();
}

function fill_servers(): void
{
    $postgres = new PDO(getenv('SPINDLE_PG_DSN'));
    $postgres->exec('CREATE TABLE orders (region text NOT NULL, cents int NOT NULL)');
    $postgres->exec("INSERT INTO orders SELECT (ARRAY['north', 'south', 'west'])[1 + n % 3], n FROM generate_series(1, 3000) n");
    $mariadb = new PDO(getenv('SPINDLE_MYSQL_DSN'), getenv('SPINDLE_MYSQL_USER'), getenv('SPINDLE_MYSQL_PASSWORD'));
    $mariadb->exec('CREATE TABLE visits (page varchar(20) NOT NULL, visits int NOT NULL)');
    $mariadb->exec("INSERT INTO visits VALUES ('home', 120), ('cart', 40), ('home', 80), ('search', 33)");
    $redis = new Redis();
    $redis->connect(getenv('SPINDLE_REDIS_HOST'), (int) getenv('SPINDLE_REDIS_PORT'));
    $redis->set('shop:online', '17');
}

/** Makes what `scripts/servers` wrote part of the environment. */
function read_exports(string $file): void
{
    foreach (file($file, FILE_IGNORE_NEW_LINES) as $line) {
        if (preg_match("/^export (\\w+)='?(.*?)'?$/", $line, $match)) {
            putenv("$match[1]=$match[2]");
        }
    }
}

function remove_folder(string $folder): void
{
    $items = new RecursiveIteratorIterator(
        new RecursiveDirectoryIterator($folder, FilesystemIterator::SKIP_DOTS),
        RecursiveIteratorIterator::CHILD_FIRST,
    );
    foreach ($items as $item) {
        $item->isDir() && !$item->isLink() ? rmdir((string) $item) : unlink((string) $item);
    }
    rmdir($folder);
}

function demo(string $folder): bool
{
    $servers = getenv('DEMO_SERVERS') === '1';

    fill_sqlite("$folder/shop.sqlite");
    file_put_contents("$folder/announcement.txt", "Open on Sunday.\nFree shipping this week.\n");
    putenv("SHOP_DATABASE=$folder/shop.sqlite");
    putenv("SHOP_ANNOUNCEMENT=$folder/announcement.txt");

    // It ends when this end of its standard input is closed, so also when this process dies in whatever way.
    $service = proc_open([PHP_BINARY, '-n', __DIR__ . '/http-server.php'], [['pipe', 'r'], ['pipe', 'w']], $pipes);
    try {
        $port = (int) fgets($pipes[1]);
        if ($port === 0) {
            throw new RuntimeException('the HTTP service did not start');
        }
        putenv("SHOP_SERVICE=http://127.0.0.1:$port");
        if ($servers) {
            $start = [ROOT . '/scripts/servers', 'start', $folder];
            [, $messages, $status] = run('Starting PostgreSQL, MariaDB and Redis …', $start, getenv());
            if ($status !== 0) {
                throw new RuntimeException(rtrim($messages));
            }
            read_exports("$folder/env");
            fill_servers();
            note('PostgreSQL, MariaDB and Redis are up');
        }

        $extension = getenv('SPINDLE_EXTENSION') ?: realpath(ROOT) . '/build/spindle.so';
        // Where php.ini loads Spindle already, a second request for it would only warn.
        $with = extension_loaded('spindle') ? [] : ['-d', "extension=$extension"];
        if ($with && !is_file($extension)) {
            throw new RuntimeException("there is no $extension yet: run 'make build', or 'make demo' for all of it");
        }
        $async = [PHP_BINARY, ...$with];
        $calls = 15 + ($servers ? 3 : 0);
        $ok = compare('8 requests by Guzzle', 'warehouse', $async);
        return compare("A page of a shop: $calls calls (PDO with SQLite, cURL, HTTP streams, a file, a process, a pause"
            . ($servers ? ', PostgreSQL, MariaDB, Redis)' : ')'), 'dashboard', $async) && $ok;
    } finally {
        array_map('fclose', $pipes);
        proc_close($service);
    }
}

/** Runs a program as plain PHP and with Spindle, and prints times and results. @param list<string> $async the command for Spindle */
function compare(string $what, string $name, array $async): bool
{
    [$plain, $json, $before] = page("$name.php", [PHP_BINARY, __DIR__ . "/$name.php"], getenv());
    [$result, , $after] = page("$name-async.php", [...$async, __DIR__ . "/$name-async.php"], getenv());
    echo "$what\n";
    printf("  %-32s %6.2f s\n", "plain PHP, $name.php", $before);
    printf("  %-32s %6.2f s\n", "Spindle, $name-async.php", $after);
    printf("  %-32s %6.1f\n", 'times as fast', $before / $after);
    printf("  %-32s %s (%d bytes of JSON)\n", 'results', $plain === $result ? 'equal' : 'DIFFERENT', strlen($json));
    foreach ($plain === $result ? [] : $plain as $part => $value) {
        if ($value !== ($result[$part] ?? null)) {
            note("$part: " . json_encode($value) . ' against ' . json_encode($result[$part] ?? null));
        }
    }
    return $plain === $result && $after < $before;
}

if (function_exists('pcntl_async_signals')) {
    pcntl_async_signals(true);
    foreach ([SIGINT, SIGTERM, SIGHUP] as $signal) {
        // Without restart: a wait that is under way must end, too.
        pcntl_signal($signal, fn (int $number) => throw new Interrupted(code: 128 + $number), false);
    }
}

$folder = sys_get_temp_dir() . '/spindle-demo.' . bin2hex(random_bytes(6));
mkdir($folder, 0700);
try {
    $status = demo($folder) ? 0 : 1;
} catch (Interrupted $interrupted) {
    note('interrupted');
    $status = $interrupted->getCode();
} catch (RuntimeException $failure) {
    note('demo: ' . $failure->getMessage());
    $status = 1;
} finally {
    if (function_exists('pcntl_signal')) {
        foreach ([SIGINT, SIGTERM, SIGHUP] as $signal) {
            pcntl_signal($signal, SIG_IGN);
        }
    }
    if (getenv('DEMO_SERVERS') === '1') {
        exec(escapeshellarg(ROOT . '/scripts/servers') . ' stop ' . escapeshellarg($folder));
    }
    remove_folder($folder);
}
exit($status);
