<?php
/*
 * The programs of examples/, under load and with real clients. examples/demo.php is the suite `demo`.
 *
 *   tests/docs/run --examples [--ext build/spindle.so] [--only GLOB] [--list]
 *
 * The servers are some that this starts; the PostgreSQL of the pool may be that of SPINDLE_PG_DSN. The last line is "N passed, N failed, N skipped".
 */

declare(strict_types=1);

namespace Examples;

$options = \Runner\options(['examples']);
define('EXTENSION', \Runner\extension($options['ext'] ?? null));
define('WORK', \Runner\work('examples'));
foreach (['curl', 'chromium'] as $program) {
    trim((string) shell_exec("command -v $program")) !== '' || \Runner\fail("there is no $program; 'scripts/setup test' installs it");
}

/** Starts a PostgreSQL, if there is none yet. */
function postgres(): void
{
    getenv('SPINDLE_PG_DSN') || servers('postgres');
}

/** Starts a server, if that was not done, and puts its address into the environment. */
function servers(string $name): void
{
    static $begun = [];
    if (isset($begun[$name])) {
        return;
    }
    $begun === [] && register_shutdown_function(static fn () => exec(escapeshellarg(ROOT . '/scripts/servers') . ' stop ' . WORK . '/servers'));
    $begun[$name] = true;
    exec(escapeshellarg(ROOT . '/scripts/servers') . ' start ' . WORK . "/servers $name >&2", result_code: $status);
    $status === 0 || throw new \Exception("there is no $name");
    exec('. ' . WORK . '/servers/env && env -0', $lines);
    foreach (explode("\0", implode("\n", $lines)) as $line) {
        str_starts_with($line, 'SPINDLE_') && putenv($line);
    }
}

$cases = [];
foreach (['supervisor', 'pdo-pool', 'http', 'queues'] as $file) {
    require __DIR__ . "/$file.php";
}
\Runner\run($options, $cases, failed: static fn () => substr((string) @file_get_contents(WORK . '/stderr'), -500));
