<?php
/*
 * The example examples/pdo-pool.php: on a real PostgreSQL, whose connections it ends at random, and on SQLite.
 */

declare(strict_types=1);

namespace Examples;

/** Runs it, and returns what it has printed. */
function transfers(array $environment, int $coroutines, int $connections): string
{
    $command = ['timeout', '-s', 'KILL', '300', PHP_BINARY, '-d', 'extension=' . EXTENSION, ROOT . '/examples/pdo-pool.php', "$coroutines", "$connections"];
    // The client library reports each connection that was ended on standard error.
    $process = proc_open($command, [1 => ['pipe', 'w'], 2 => ['file', '/dev/null', 'w']], $pipes, null, $environment + getenv());
    $output = stream_get_contents($pipes[1]);
    same(0, proc_close($process));
    str_contains($output, "$coroutines transfers by $coroutines coroutines over $connections connections") || throw new \Exception($output);
    return $output;
}

$cases['a pool of PDO, PostgreSQL'] = static function (): string {
    postgres();
    $output = transfers(['DB_DSN' => getenv('SPINDLE_PG_DSN'), 'DB_USER' => getenv('SPINDLE_PG_USER'), 'DB_PASSWORD' => getenv('SPINDLE_PG_PASSWORD')], 1000, 10);
    return preg_match('~^[1-9]\d* connections were ended, [1-9].*~m', $output, $found) ? $found[0] : throw new \Exception($output);
};
$cases['a pool of PDO, SQLite'] = static fn (): string => strtok(transfers(['DB_DSN' => ''], 100, 4), "\n");
