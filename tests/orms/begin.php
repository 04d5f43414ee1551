<?php

/**
 * Runs a case: `begin.php LIBRARIES KIND CASE [PACKAGE]`. It has the packages of this repository, the libraries of the distribution, or
 * those of a package of SPINDLE_SOURCES before them, and a database of the kind.
 */

declare(strict_types=1);

namespace Orms;

error_reporting(E_ALL & ~E_DEPRECATED & ~E_USER_DEPRECATED);
set_error_handler(static function (int $level, string $text, string $file, int $line): bool {
    if ((error_reporting() & $level) !== 0) {
        throw new \ErrorException($text, 0, $level, $file, $line);
    }
    return false;
});
set_include_path($argv[1]); // where Debian's autoloaders look
define('Orms\KIND', $argv[2]);

const MAX = 5;

spl_autoload_register(static function (string $class): void {
    $file = dirname(__DIR__, 2) . '/packages/' . strtr($class, ['Spindle\\Pooled\\' => 'pooled-connections/src/',
        'Spindle\\Doctrine\\' => 'doctrine/src/', 'Spindle\\Eloquent\\' => 'eloquent/src/']) . '.php';
    str_starts_with($class, 'Spindle\\') && is_file($file) && require $file;
});

/** Returns how the server is reached: host, port, user, password, name of the database. */
function server(): array
{
    $prefix = KIND === 'pgsql' ? 'SPINDLE_PG_' : 'SPINDLE_MYSQL_';
    return array_map(static fn (string $name) => getenv($prefix . $name), ['HOST', 'PORT', 'USER', 'PASSWORD', 'DB']);
}

/** Returns a connection of PDO, to look with at what others do. */
function watcher(): \PDO
{
    [$host, $port, $user, $password, $name] = server();
    return new \PDO(KIND . ":host=$host;port=$port;dbname=$name", $user, $password);
}

/**
 * Returns how many connections with the server this process has. The server takes a while to see that one was closed, and the kernel's
 * table lists some twice, and others not at all, while it changes.
 */
function connections(): int
{
    static $c = null;
    $c ??= \FFI::cdef('int getpeername(int fd, uint8_t address[], uint32_t *length);');
    $count = 0;
    foreach (glob('/proc/self/fd/*') as $link) {
        [$address, $length] = [$c->new('uint8_t[128]'), $c->new('uint32_t')];
        $length->cdata = 128;
        $isConnected = $c->getpeername((int) basename($link), $address, \FFI::addr($length)) === 0;
        $count += $isConnected && ($address[2] << 8 | $address[3]) === (int) server()[1] ? 1 : 0;
    }
    return $count;
}

/** Ends the connection that the server knows by this number. */
function kill(\PDO $watcher, int|string $number): void
{
    $watcher->exec(KIND === 'pgsql' ? "select pg_terminate_backend($number)" : "kill $number");
}

const NUMBER_OF_CONNECTION = ['pgsql' => 'select pg_backend_pid()', 'mysql' => 'select connection_id()'];

function same(mixed $expected, mixed $found, string $what): void
{
    if ($expected !== $found) {
        fwrite(STDERR, "$what: expected " . json_encode($expected) . ', found ' . json_encode($found) . "\n" . (new \Exception())->getTraceAsString() . "\n");
        exit(1);
    }
}

if (($argv[4] ?? '') !== '') {
    require dirname(__DIR__) . '/loops/autoload.php';
    \Loops\load($argv[4]);
}
require __DIR__ . '/jobs.php';
require $argv[3];
echo "ended\n";
