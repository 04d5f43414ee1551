<?php
/*
 * Tests event loops written in PHP: the packages for Revolt and ReactPHP by the contracts of those, servers on them beside
 * coroutines that use PostgreSQL, and the test suites of Revolt, AMPHP and ReactPHP with the outcomes that stock PHP has.
 *
 *   applications/run --loops [--only GLOB] [--list] [--sample] [--limit SECONDS]
 *
 * What is not packaged is read from the folder that SPINDLE_SOURCES names, as OWNER/NAME: what needs something that is not
 * there is named and skipped. --only takes a glob on the names of suites and cases, --sample runs the contracts and the cases
 * only, --limit is for each run of a suite (900). The last line is "N passed, N failed, N skipped".
 */

declare(strict_types=1);

require __DIR__ . '/autoload.php';

$root = ROOT;
$extension = EXTENSION;
$list = __DIR__ . '/suites.php';
$names = static fn (string $glob) => array_map(static fn (string $file) => basename($file, '.php'), glob($glob, GLOB_BRACE));
$suites = array_filter(require $list, static fn (array $suite) => !isset($options['sample']) || isset($suite['contract']));
$meant = Runner\meant($options, [...preg_filter('/^/', 'package-', $names("$root/packages/{revolt-driver,react-loop}")), ...$names(__DIR__ . '/cases/*.php'),
    ...array_keys($suites)]);
$passed = $failed = $skipped = 0;

// The packages themselves: what composer.json says of the code, and code that PHP compiles.
foreach (glob("$root/packages/{revolt-driver,react-loop}", GLOB_BRACE) as $package) {
    $name = 'package-' . basename($package);
    if (!in_array($name, $meant, true)) continue;
    $wrong = [];
    foreach (json_decode(file_get_contents("$package/composer.json"), true, 512, JSON_THROW_ON_ERROR)['autoload']['psr-4'] as $namespace => $folder) {
        foreach (glob("$package/" . rtrim($folder, "/") . "/*.php") as $file) {
            exec(escapeshellarg(PHP_BINARY) . ' -n -l ' . escapeshellarg($file) . ' 2>&1', $output, $status);
            $class = basename($file, '.php');
            $code = file_get_contents($file);
            if ($status !== 0 || !str_contains($code, "\nnamespace " . rtrim($namespace, '\\') . ";\n") || !preg_match("/\nfinal class $class /", $code)) {
                $wrong[] = basename($file) . ': ' . end($output);
            }
            $found = true;
        }
    }
    if ($wrong === [] && isset($found)) {
        $passed++;
    } else {
        $failed++;
        echo "FAILED: $name: ", implode('; ', $wrong), "\n";
    }
    unset($found, $output);
}

// What the cases need must be there: their packages are named in their first lines.
$cases = array_filter(glob(__DIR__ . '/cases/*.php'), static fn (string $file) => in_array(basename($file, '.php'), $meant, true));
$servers = null;
$stop = static function () use (&$servers, $root): void {
    $servers === null || exec(escapeshellarg("$root/scripts/servers") . ' stop ' . escapeshellarg($servers));
};
register_shutdown_function($stop);
foreach ($cases as $file) {
    $name = basename($file, '.php');
    preg_match('~^// needs: (\S+)$~m', file_get_contents($file), $found);
    if (Loops\load($found[1]) === 0) {
        echo "skip $name: no $found[1] in the folder that SPINDLE_SOURCES names\n";
        $skipped++;
        continue;
    }
    if ($servers === null) {
        $servers = Runner\work('loops');
        exec(escapeshellarg("$root/scripts/servers") . ' start ' . escapeshellarg($servers) . ' postgres', $output, $status);
        $status === 0 || Runner\fail('PostgreSQL could not be started: ' . implode("\n", $output));
        preg_match_all("/^export (\\w+)='?(.*?)'?$/m", file_get_contents("$servers/env"), $variables, PREG_SET_ORDER);
        foreach ($variables as [, $variable, $value]) {
            putenv("$variable=$value");
        }
    }
    foreach (['script', 'coroutine'] as $way) {
        $code = 'require $argv[1]; require $argv[2]; Loops\load($argv[3]); $run = static fn () => require $argv[4];'
            . ($way === 'script' ? '$run();' : 'Async\await(Async\spawn($run));') . 'echo "ended\n";';
        $command = ['timeout', '-s', 'KILL', '120', PHP_BINARY, '-d', "extension=$extension", '-d', 'zend.assertions=1', '-r', $code, '--',
            __DIR__ . '/autoload.php', __DIR__ . '/beside-postgres.php', $found[1], $file];
        $process = proc_open($command, [['file', '/dev/null', 'r'], ['pipe', 'w'], ['redirect', 1]], $pipes);
        $output = stream_get_contents($pipes[1]);
        $status = proc_close($process);
        require_once __DIR__ . '/beside-postgres.php';
        if ($status === 0 && $output === Loops\EXPECTED . "ended\n") {
            $passed++;
        } else {
            $failed++;
            echo "FAILED: $name in a $way: status $status\n$output\n";
        }
    }
}

foreach (array_intersect(array_keys($suites), $meant) as $name) {
    $command = [PHP_BINARY, "$root/tests/applications/run", '--ext', $extension, '--suites', $list, '--only', $name,
        ...isset($options['limit']) ? ['--limit', $options['limit']] : []];
    $process = proc_open($command, [['file', '/dev/null', 'r'], ['pipe', 'w'], STDERR], $pipes);
    $output = stream_get_contents($pipes[1]);
    proc_close($process);
    if (preg_match('/^applications: (\d+) passed, (\d+) failed, (\d+) skipped\n\z/m', $output, $found)) {
        [$passed, $failed, $skipped] = [$passed + $found[1], $failed + $found[2], $skipped + $found[3]];
        echo substr($output, 0, -strlen($found[0]));
    } else {
        $failed++;
        echo "FAILED: $name: it has no closing line\n$output";
    }
}
Runner\close($passed, $failed, $skipped);
