<?php
/*
 * The programs of examples/, under load and with real clients. examples/demo.php is the suite `demo`.
 *
 *   tests/docs/run --examples [--ext build/spindle.so] [--only GLOB] [--list]
 *
 * The PostgreSQL is one that this starts, or that of SPINDLE_PG_DSN. The last line is "N passed, N failed, N skipped".
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
    if (getenv('SPINDLE_PG_DSN')) {
        return;
    }
    $servers = escapeshellarg(ROOT . '/scripts/servers');
    exec("$servers start " . WORK . '/servers postgres >&2', result_code: $status);
    $status === 0 || throw new \Exception('there is no PostgreSQL');
    register_shutdown_function(static fn () => exec("$servers stop " . WORK . '/servers'));
    exec('. ' . WORK . '/servers/env && env -0', $lines);
    foreach (explode("\0", implode("\n", $lines)) as $line) {
        str_starts_with($line, 'SPINDLE_PG_') && putenv($line);
    }
}

$cases = [];
foreach (['supervisor', 'pdo-pool', 'http'] as $file) {
    require __DIR__ . "/$file.php";
}
\Runner\run($options, $cases, failed: static fn () => substr((string) @file_get_contents(WORK . '/stderr'), -500));
