<?php
/*
 * Lets coroutines and instances share connections of Doctrine DBAL, of its ORM and of Eloquent, with the packages spindle/doctrine and
 * spindle/eloquent, and real servers: the rows of transactions that were committed are there, and no others.
 *
 *   run --orms [--only GLOB] [--list]
 *
 * The libraries are the distribution's (fetch); a case is repeated with those in the folder that SPINDLE_SOURCES names, where it has
 * them. The last line is "orms: N passed, N failed, N skipped".
 */

declare(strict_types=1);

namespace Applications;

require dirname(__DIR__) . '/sources.php';

const KINDS = ['pgsql' => 'PostgreSQL', 'mysql' => 'MariaDB'];
/** What a case's package is called in the folder of sources. */
const SOURCES = ['php-doctrine-dbal' => 'doctrine/dbal', 'php-illuminate-database' => 'laravel/framework', 'php-laravel-framework' => 'laravel/framework'];

$cases = [];
foreach (glob(__DIR__ . '/cases/*.php') as $file) {
    foreach (KINDS as $kind => $server) {
        $cases[basename($file, '.php') . "-$kind"] = [$file, $kind];
    }
}
$cases = array_intersect_key($cases, array_flip(\Runner\meant($options, array_keys($cases))));
$servers = \Runner\work('orms');
register_shutdown_function(static fn () => exec(escapeshellarg(ROOT . '/scripts/servers') . ' stop ' . escapeshellarg($servers)));
exec(escapeshellarg(ROOT . '/scripts/servers') . ' start ' . escapeshellarg($servers) . ' postgres mariadb', $output, $status);
$status === 0 || \Runner\fail('the servers could not be started: ' . implode("\n", $output));
preg_match_all("/^export (\\w+)='?(.*?)'?$/m", file_get_contents("$servers/env"), $variables, PREG_SET_ORDER);
foreach ($variables as [, $variable, $value]) {
    putenv("$variable=$value");
}

$passed = $failed = $skipped = 0;
foreach ($cases as $name => [$file, $kind]) {
    $packages = preg_match('~^// needs: (.+)$~m', file_get_contents($file), $found) ? explode(' ', $found[1]) : [];
    $missing = $packages === [] ? [] : missing(...$packages);
    if ($missing !== []) {
        $skipped++;
        echo "SKIPPED: $name: $missing[0]\n";
        continue;
    }
    $source = SOURCES[$packages[0] ?? ''] ?? '';
    foreach (isset(\Sources\packages()[$source]) ? ['', $source] : [''] as $of) {
        $command = ['timeout', '-s', 'KILL', '300', PHP_BINARY, '-d', 'extension=' . EXTENSION, __DIR__ . '/begin.php', LIBRARIES, $kind, $file, $of];
        $process = proc_open($command, [['file', '/dev/null', 'r'], ['pipe', 'w'], ['redirect', 1]], $pipes, sys_get_temp_dir());
        $output = stream_get_contents($pipes[1]);
        $status = proc_close($process);
        $of === '' || $name .= ", $of of SPINDLE_SOURCES";
        if ($status === 0 && $output === "ended\n") {
            $passed++;
            echo "ok    $name\n";
        } else {
            $failed++;
            echo "FAILED: $name: status $status\n", substr($output, 0, 3000), "\n";
        }
    }
}
\Runner\close($passed, $failed, $skipped, 'orms');
