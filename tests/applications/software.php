<?php
/*
 * Runs the own tests of real PHP software, on stock PHP and with Spindle, and compares test by test.
 *
 *   run [--suites FILE] [--only GLOB] [--sample] [--limit SECONDS] [--keep] [--list]
 *
 * Each suite (suites.php) runs on stock PHP, twice, and then in three ways with Spindle: loaded and not used, inside one
 * coroutine, and inside one beside six that are busy (within.php). A test need not pass: its outcome must be the same. What
 * stock PHP does differently each time is left out and named. What differs is run again twice, its class alone, both
 * ways, as much depends on time. Differences that must be are listed in known-differences, each with its reason; one of
 * these that does not differ fails the run too.
 *
 * The tests are the distribution's (fetch), and so is PHPUnit; those of other suites are in the folder that SPINDLE_SOURCES
 * names, as OWNER/NAME. A suite whose tests cannot be had is named and counts as skipped. --suites takes another list, --sample runs a part in about two minutes, --only takes a glob on the names of suites, --limit is for each
 * run of one (900). The last line is "applications: N passed, N failed, N skipped".
 */

declare(strict_types=1);

namespace Applications;

const WAYS = ['loaded', 'coroutine', 'busy'];

define('LIMIT', (int) ($options['limit'] ?? 900));
define('SUITES', realpath($options['suites'] ?? __DIR__ . '/suites.php') ?: \Runner\fail('there is no such list of suites'));
define('SOURCES', rtrim((string) getenv('SPINDLE_SOURCES'), '/'));
$suites = array_filter(require SUITES, static fn (array $suite) => !isset($options['sample']) || isset($suite['sample']));
$suites = array_intersect_key($suites, array_flip(\Runner\meant($options, array_keys($suites))));
define('WORK', \Runner\work('app', isset($options['keep'])));
// What is running ends with the run.
$group = 0;
$unexpected = false;
register_shutdown_function(static function () use ($options, &$group, &$unexpected): void {
    if ($group > 0) {
        posix_kill(-$group, SIGKILL);
    }
    exec(escapeshellarg(ROOT . '/scripts/servers') . ' stop ' . escapeshellarg(WORK . '/servers'));
    \Runner\remove(WORK . '/tree', WORK . '/servers', WORK . '/tmp', WORK . '/spindle.so');
    if ($unexpected && !isset($options['keep'])) {
        \Runner\keep_outputs('applications', WORK);
    }
});
// The module as it is now: a run takes long, and it may be built anew meanwhile. Where PHP looks for settings, so that
// also a PHP that a test starts has it.
copy(EXTENSION, WORK . '/spindle.so');
foreach (['stock' => '', 'loaded' => 'extension=' . WORK . "/spindle.so\n"] as $name => $settings) {
    mkdir(WORK . "/ini-$name");
    file_put_contents(WORK . "/ini-$name/90-spindle.ini", $settings);
}

/** What a run of a suite has shown: outcomes and messages of its tests by their names, and how it ended. */
final class Run
{
    /** @var array<string, string> */
    public array $outcomes = [];
    /** @var array<string, string> */
    public array $messages = [];
    public float $seconds = 0;
    public int $turns = 0;
}

/** @param list<string> $command; @return list<string> */
function lines(array $command): array
{
    exec(implode(' ', array_map(escapeshellarg(...), $command)), $lines, $status);
    $status === 0 ?: throw new \RuntimeException("$command[0] failed");
    return $lines;
}

/**
 * @param array<string, mixed> $suite
 * @param list<string> $arguments further ones
 */
function run(string $name, array $suite, string $way, array $arguments, string $log): Run
{
    global $group;
    static $alone;
    if ($alone === null) { // some tests have ports of their own: two runs at a time would meet there
        $alone = fopen(sys_get_temp_dir() . '/spindle-applications.lock', 'ce');
        flock($alone, LOCK_EX);
    }
    foreach (['tree', 'tmp'] as $folder) {
        exec('rm -rf ' . escapeshellarg(WORK . "/$folder"));
    }
    // Always a fresh copy by the same path: tests write beside themselves, and print their paths.
    mkdir(WORK . '/tree');
    $source = isset($suite['sources']) ? SOURCES . "/$suite[sources]" : STORE . "/source/$suite[source]";
    exec('cd ' . escapeshellarg($source) . ' && cp -r --parents -t ' . escapeshellarg(WORK . '/tree') . ' '
        . implode(' ', array_map(escapeshellarg(...), $suite['parts'] ?? ['.'])), result_code: $status);
    $status === 0 ?: throw new \RuntimeException("the source of $name could not be copied");
    mkdir(WORK . '/tmp');
    chmod(WORK . '/tmp', 01777);
    foreach (['vendor/autoload.php' => __DIR__ . '/bootstrap.php', ...$suite['links'] ?? []] as $link => $target) {
        @mkdir(dirname(WORK . "/tree/$link"), recursive: true);
        symlink($target[0] === '/' ? $target : STORE . "/unpacked/$target", WORK . "/tree/$link");
    }

    foreach ($suite['copies'] ?? [] as $package) {
        mkdir(WORK . "/tree/vendor/$package", recursive: true);
        lines(['cp', '-r', SOURCES . "/$package/.", WORK . "/tree/vendor/$package"]);
    }

    $environment = array_diff_key(getenv(), array_flip(['http_proxy', 'https_proxy', 'all_proxy', 'no_proxy',
        'HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY', 'SPINDLE_EXTENSION']));
    if (isset($suite['servers'])) {
        lines([ROOT . '/scripts/servers', 'start', WORK . '/servers', ...$suite['servers']]);
        preg_match_all("/^export (\\w+)='?(.*?)'?$/m", file_get_contents(WORK . '/servers/env'), $found, PREG_SET_ORDER);
        $environment += array_column($found, 2, 1);
    }
    $fill = static fn (string $text) => preg_replace_callback('/\{(\w+)\}/',
        static fn (array $found) => $environment[$found[1]] ?? throw new \RuntimeException("there is no $found[1]"), $text);
    $environment = array_map($fill, $suite['environment'] ?? []) + $environment;
    $results = "$log.results";
    @unlink($results);
    $environment = ['SPINDLE_WAY' => $way, 'SPINDLE_RESULTS' => $results, 'SPINDLE_SUITE' => $name, 'SPINDLE_SUITES' => SUITES,
        'SPINDLE_SUITE_TREE' => WORK . '/tree', 'SPINDLE_SUITE_ROOT' => STORE . '/unpacked', 'TMPDIR' => WORK . '/tmp',
        'PHP_INI_SCAN_DIR' => ':' . WORK . '/ini-' . ($way === 'stock' ? 'stock' : 'loaded')] + $environment;

    foreach ($suite['edits'] ?? [] as $file => $edits) {
        $edits = array_map($fill, $edits);
        file_put_contents(WORK . "/tree/$file", strtr(file_get_contents(WORK . "/tree/$file"), $edits));
    }
    foreach ($suite['prepare'] ?? [] as $command) {
        exec('cd ' . escapeshellarg(WORK . '/tree') . ' && ' . $fill($command) . ' 2>&1', $output, $status);
        $status === 0 ?: throw new \RuntimeException("$name: $command: " . implode("\n", $output));
    }

    $modules = [];
    foreach ($suite['extensions'] ?? [] as $module) {
        if (!extension_loaded($module)) {
            array_push($modules, '-d', "extension=$module");
        }
    }
    if (isset($suite['script'])) {
        $environment['SPINDLE_SCRIPT'] = WORK . "/tree/$suite[script]";
    }
    $command = ['setsid', '--wait', 'timeout', '-s', 'KILL', (string) LIMIT, PHP_BINARY,
        '-d', 'memory_limit=-1', '-d', 'zend.assertions=1', ...$modules,
        __DIR__ . '/within.php', ...array_map($fill, $suite['arguments'] ?? []), ...$arguments];
    $since = hrtime(true);
    $process = proc_open($command, [['file', '/dev/null', 'r'], ['file', "$log.out", 'w'], ['redirect', 1]], $pipes,
        WORK . '/tree/' . ($suite['folder'] ?? ''), $environment);
    // setsid forks where it leads a group already, which it does not here.
    $group = proc_get_status($process)['pid'];
    while (($status = proc_get_status($process))['running']) {
        usleep(20_000);
    }
    posix_kill(-$group, SIGKILL); // what tests have left behind
    $group = 0;
    lines([ROOT . '/scripts/servers', 'stop', WORK . '/servers']);

    $run = new Run();
    $run->seconds = (hrtime(true) - $since) / 1e9;
    $last = '(none)';
    $end = null;
    foreach (is_file($results) ? file($results) : [] as $line) {
        $line = json_decode($line, true);
        if (isset($line['begins'])) {
            $last = $line['begins'];
        } elseif (isset($line['ends'])) {
            $end = $line;
        } else {
            record($run, $line['test'], $line['outcome'], $line['message']);
        }
    }
    if (isset($suite['outcomes'])) {
        foreach ($suite['outcomes'](file_get_contents("$log.out")) as $test => $outcome) {
            record($run, $test, $outcome, '');
        }
    }
    $run->turns = $end['turns'] ?? 0;
    $code = $status['signaled'] ? 128 + $status['termsig'] : $status['exitcode'];
    // 0 to 2: as PHPUnit found the tests.
    $run->outcomes['(end)'] = $end !== null && $code <= 2 ? 'ended' : "died with status $code in $last";
    $run->messages['(end)'] = '';
    return $run;
}

function record(Run $run, string $test, string $outcome, string $message): void
{
    for ($name = $test, $i = 2; isset($run->outcomes[$name]); $i++) {
        $name = "$test #$i";
    }
    $run->outcomes[$name] = $outcome;
    $run->messages[$name] = $message;
}

/** @return array<string, string> the reasons by patterns */
function known(): array
{
    $known = [];
    foreach (file(__DIR__ . '/known-differences', FILE_IGNORE_NEW_LINES) as $line) {
        if ($line !== '' && $line[0] !== '#') {
            [$pattern, $reason] = preg_split('/\s+/', $line, 2) + [1 => ''];
            $reason !== '' || \Runner\fail("known-differences: no reason is given for $pattern");
            $known[$pattern] = $reason;
        }
    }
    return $known;
}

$known = known();
/** The pattern of the known difference that a test is, or null. */
$find_known = static function (string $name) use ($known): ?string {
    foreach (array_keys($known) as $pattern) {
        if (fnmatch($pattern, strtr($name, '\\ ', '._'))) {
            return $pattern;
        }
    }
    return null;
};
$met = $needed = [];
$passed = $failed = $skipped = 0;
$rows = [];
$say = static function (string $line): void {
    echo $line, "\n";
    flush();
};

$missing = [];
foreach (lines(['bash', __DIR__ . '/fetch.bash', 'source', ...array_unique(array_column($suites, 'source')),
    'package', ...array_unique(array_merge(...array_column($suites, 'packages')))]) as $line) {
    [$what, $why] = explode(': ', $line, 2);
    $missing[$what] = $why;
}

foreach ($suites as $name => $suite) {
    $lacks = [...isset($suite['absent']) ? [$suite['absent']] : [],
        ...array_intersect_key($missing, array_flip([$suite['source'] ?? '', ...$suite['packages'] ?? []]))];
    if (isset($suite['sources']) && !is_dir(SOURCES . "/$suite[sources]/" . ($suite['tests'] ?? 'tests'))) {
        $lacks[] = "no tests of $suite[sources] in the folder that SPINDLE_SOURCES names";
    }
    foreach ($suite['copies'] ?? [] as $package) {
        is_dir(SOURCES . "/$package") || $lacks[] = "no tests of $suite[sources] without $package in the folder that SPINDLE_SOURCES names";
    }
    if ($lacks === [] && !isset($suite['map']) && !isset($suite['sources']) && !isset($suite['script'])) {
        $lacks = ["the source package $suite[source] is there, but how its tests run is not in suites.php yet"];
    }
    if ($lacks !== []) {
        $say("SKIPPED: $name: " . implode('; ', $lacks));
        $skipped++;
        continue;
    }
    $arguments = isset($options['sample']) ? $suite['sample'] : [];
    mkdir(WORK . "/$name");
    $round = static function (int $round, array $ways, array $arguments) use ($name, $suite): array {
        $runs = [];
        foreach ($ways as $key => $way) {
            $runs[$key] = run($name, $suite, $way, $arguments, WORK . "/$name/$round-$key");
        }
        return $runs;
    };
    if (isset($suite['contract'])) {
        // Tests of what stock PHP does not have: all pass, but for those that say why they do not run.
        $row = ['tests' => 0, 'stock' => 0, 'unstable' => 0];
        foreach ($round(0, array_combine(WAYS, WAYS), $arguments) as $way => $run) {
            $row[$way] = 0;
            foreach (array_diff_key($run->outcomes, ['(end)' => 0]) as $test => $outcome) {
                if ($outcome === 'passed' || $outcome === 'skipped' && in_array($test, $suite['skips'] ?? [], true)) {
                    $row[$way]++;
                } elseif ($pattern = $find_known("$name/$way/$test")) {
                    $met[$pattern] = $needed[$pattern] = true;
                    $say("known difference: $name/$way/$test: $known[$pattern]");
                    $skipped++;
                } else {
                    $failed++;
                    $say("FAILS: $name/$way/$test: $outcome: {$run->messages[$test]}");
                }
            }
            if ($run->outcomes['(end)'] !== 'ended' || $row[$way] === 0) {
                $failed++;
                $say("FAILS: $name/$way: {$run->outcomes['(end)']}");
            }
            $passed += $row[$way];
            $row['tests'] = max($row['tests'], $row[$way]);
            $row['turns'] = $run->turns;
            $row['seconds'] = ($row['seconds'] ?? '') . ' ' . round($run->seconds);
        }
        $rows[$name] = $row;
        continue;
    }
    $first = $round(0, ['stock' => 'stock', 'again' => 'stock', ...array_combine(WAYS, WAYS)], $arguments);
    $tests = [];
    foreach ($first as $run) {
        $tests += $run->outcomes;
    }
    $tests = array_keys($tests);
    $outcome = static fn (Run $run, string $test): string => $run->outcomes[$test] ?? 'no result';
    $unstable = array_filter($tests,
        static fn (string $test) => $outcome($first['stock'], $test) !== $outcome($first['again'], $test));
    $differing = [];
    foreach (WAYS as $way) {
        $differing[$way] = array_combine($keys = array_filter(array_diff($tests, $unstable),
            static fn (string $test) => $outcome($first[$way], $test) !== $outcome($first['stock'], $test)), $keys);
    }
    // Once more, the classes of what differs alone.
    $settled = [];
    for ($i = 1; $i <= 2 && array_filter($differing) !== []; $i++) {
        $classes = array_unique(array_map(static fn (string $test) => strstr("$test::", '::', true),
            array_merge(...array_map(array_values(...), array_values($differing)))));
        if (!isset($suite['outcomes']) && in_array('(end)', $classes, true)) {
            break; // a process that dies is not a matter of time
        }
        $ways = array_filter(array_combine(WAYS, WAYS), static fn (string $way) => $differing[$way] !== []);
        $filter = ['--filter', '/^(' . implode('|', array_map(preg_quote(...), $classes)) . ')::/'];
        $again = $round($i, ['stock' => 'stock', ...$ways], [...$arguments, ...isset($suite['outcomes']) ? [] : $filter]);
        foreach ($differing as $way => $names) {
            foreach ($names as $test) {
                $onStock = [$outcome($first['stock'], $test), $outcome($again['stock'], $test)];
                if (array_intersect([$outcome($again[$way], $test), $outcome($first[$way], $test)], $onStock) !== []) {
                    $message = $first[$way]->messages[$test] ?? '';
                    $settled[] = "$name/$way/$test: {$outcome($first[$way], $test)} at first: $message";
                    unset($differing[$way][$test]);
                }
            }
        }
    }
    $unstable = array_values(array_unique($unstable));
    foreach (array_slice($unstable, 0, 20) as $test) {
        $say("unstable on stock PHP, left out: $name/$test");
    }
    if (count($unstable) > 20) {
        $say('... and ' . count($unstable) - 20 . " more of $name");
    }
    foreach ($settled as $line) {
        $say("settled when run again: $line");
    }
    $row = ['tests' => count($tests) - 1, 'stock' => count(array_keys($first['stock']->outcomes, 'passed', true)),
        'unstable' => count($unstable)];
    foreach (WAYS as $way) {
        $same = 0;
        foreach (array_diff($tests, $unstable) as $test) {
            $differs = isset($differing[$way][$test]);
            $is_known = '';
            foreach (array_keys($known) as $pattern) {
                if (fnmatch($pattern, strtr("$name/$way/$test", '\\ ', '._'))) {
                    $met[$pattern] = true;
                    if ($differs) {
                        $needed[$pattern] = true;
                        $is_known = $known[$pattern];
                    }
                }
            }
            if (!$differs) {
                $same++;
            } elseif ($is_known === '') {
                $failed++;
                if (isset($differing[$way]['(end)']) && $outcome($first[$way], $test) === 'no result') {
                    continue; // it has died before
                }
                $message = $first[$way]->messages[$test] ?? '';
                $say("DIFFERS: $name/$way/$test: {$outcome($first['stock'], $test)} on stock PHP, "
                    . "{$outcome($first[$way], $test)} here: $message");
            } else {
                $say("known difference: $name/$way/$test: $is_known");
                $skipped++;
            }
        }
        $row[$way] = $same - (int) !isset($differing[$way]['(end)']);
        $passed += $row[$way];
    }
    foreach (['stock', 'again'] as $key) {
        if ($first[$key]->outcomes['(end)'] !== 'ended' || $row['tests'] === 0) {
            $say("NOTHING TO COMPARE WITH: $name: stock PHP: {$first[$key]->outcomes['(end)']}, $row[tests] tests");
            $failed++;
        }
    }
    if ($first['busy']->turns < 3 * $row['tests']) {
        $say("TOO FEW TURNS: $name: the six coroutines had {$first['busy']->turns} beside $row[tests] tests");
        $failed++;
    }
    $rows[$name] = [...$row, 'turns' => $first['busy']->turns,
        'seconds' => implode(' ', array_map(static fn (Run $run) => round($run->seconds), $first))];
}
foreach (array_diff_key($met, $needed) as $pattern => $_) {
    if (!str_starts_with($known[$pattern], 'sometimes: ')) {
        $say("DOES NOT DIFFER, though it is in the list of known differences: $pattern ($known[$pattern])");
        $failed++;
    }
}
$unexpected = $failed > 0;

printf("\n%-22s%8s%8s%10s   same: %8s%11s%8s%11s  seconds of each run\n",
    'suite', 'tests', 'pass', 'unstable', 'loaded', 'coroutine', 'busy', 'turns');
foreach ($rows as $name => $row) {
    printf("%-22s%8d%8d%10d         %8d%11d%8d%11d  %s\n", $name, $row['tests'], $row['stock'],
        $row['unstable'], $row['loaded'], $row['coroutine'], $row['busy'], $row['turns'], $row['seconds']);
}
\Runner\close($passed, $failed, $skipped, 'applications');
