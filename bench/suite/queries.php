<?php
/**
 * Requests of Async\Http\Server whose handlers query PostgreSQL by stock PDO: milliseconds for N of `select pg_sleep(0.1)`, with
 * so many connections of the server and of the database. The database is the one that SPINDLE_PG_DSN names.
 */
require __DIR__ . '/../lib/suite.php';

$dsn = getenv('SPINDLE_PG_DSN');
if ($dsn && !extension_loaded('pdo_pgsql') && !getenv('BENCH_MODULES')) {
    // Once more, with the modules that this needs and others do not.
    $arguments = explode("\0", rtrim(file_get_contents('/proc/self/cmdline'), "\0"));
    array_splice($arguments, 0, 2, ['-n', '-d', 'extension=pdo', '-d', 'extension=pdo_pgsql']);
    pcntl_exec(PHP_BINARY, $arguments, ['BENCH_MODULES' => '1'] + getenv());
}
if (!$dsn || !extension_loaded('pdo_pgsql')) {
    echo "skipped: there is no pdo_pgsql, or SPINDLE_PG_DSN names no database\n"; // scripts/servers start DIR postgres
    exit;
}
bench('ms', static function (int $n, int $connections) use ($dsn): float {
    $pdo = new Async\PooledPDO($dsn, max: $connections);
    $server = (new Async\Http\Server())->listen('127.0.0.1:0')->handle(static fn() => (string) $pdo->query('select 1 from pg_sleep(0.1)')->fetchColumn());
    $running = Async\spawn($server->run(...));
    $clients = static function (int $each) use ($server, $connections): void {
        $tasks = [];
        for ($i = 0; $i < $connections; $i++) {
            $tasks[] = Async\spawn(static function () use ($server, $each): void {
                $stream = stream_socket_client("tcp://{$server->address()}");
                for ($i = 0; $i < $each; $i++) {
                    fwrite($stream, "GET / HTTP/1.1\r\nHost: example\r\n\r\n");
                    for ($answer = ''; !str_contains($answer, "\r\n\r\n"); $answer .= $piece) {
                        $piece = (string) fread($stream, 8192);
                        check($piece !== '', 'not answered');
                    }
                    check(str_starts_with($answer, 'HTTP/1.1 200') && str_ends_with($answer, '1'), "answered $answer");
                }
            });
        }
        Async\awaitAll($tasks);
    };
    $clients(1); // the connections of the database are made
    $since = now();
    $clients(intdiv($n, $connections));
    $took = (now() - $since) / 1e6;
    $server->stop();
    Async\await($running);
    return $took;
});
