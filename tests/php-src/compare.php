<?php

/**
 * Compares the outcomes of PHP's own tests on stock PHP and with Spindle.
 *
 *     compare.php --differing WORK                       lists those that differ in all rounds so far
 *     compare.php WORK KNOWN-DIFFERENCES FOLDER...       the report; its status is 0 when nothing is unexpected
 *
 * WORK has round0, round1... with stock and loaded in each; these have the results and outputs of run-tests.php.
 */

declare(strict_types=1);

ini_set('memory_limit', '-1');

/**
 * A run in which nothing switched would prove nothing: shares of the tests that must be in a column. Scripts that end by
 * a fatal error or by exit do not see the ticker end, and most of Zend computes only; but who asks a server has to wait.
 */
const FLOORS = [
    ['all', 'ended', 0.5], ['ext/curl', 'gave way', 0.5], ['ext/mysqli', 'gave way', 0.5],
    ['ext/pdo_mysql', 'gave way', 0.5], ['ext/pgsql', 'gave way', 0.5], ['ext/pdo_pgsql', 'gave way', 0.5],
];

/** One outcome of one test: its status, and its output where it did not pass. */
final class Outcome
{
    public function __construct(public readonly string $status, public readonly string $output)
    {
    }

    public function equals(self $other): bool
    {
        return $this->status === $other->status && $this->output === $other->output;
    }

    /** @param list<self> $others */
    public function isAmong(array $others): bool
    {
        return array_filter($others, $this->equals(...)) !== [];
    }
}

/** What is known of one test: its outcomes by rounds, in both ways. */
final class Test
{
    /** @var array<int, Outcome> from round 1 on with prepend.php */
    public array $stock = [];
    /** @var array<int, Outcome> */
    public array $loaded = [];

    public function __construct(public readonly string $file)
    {
    }

    /**
     * 'same' at once; 'prepended' if the outcome is that of stock PHP with the same file in front; 'settled' if it was
     * the same at a repetition; 'unstable' if stock PHP prints something else each time there, and the status is the same;
     * else 'differs'.
     */
    public function verdict(): string
    {
        if (!isset($this->stock[0], $this->loaded[0])) {
            return 'differs';
        }
        $again = array_slice($this->stock, 1);
        if ($this->loaded[0]->equals($this->stock[0])) {
            return 'same';
        }
        if ($this->loaded[0]->isAmong($again)) {
            return 'prepended';
        }
        foreach ($this->loaded as $outcome) {
            if ($outcome->isAmong($this->stock)) {
                return 'settled';
            }
        }
        $statuses = array_unique(array_column([...$again, ...$this->loaded], 'status'));
        return count($statuses) === 1 && count($again) > 1 && !$again[0]->equals($again[1]) ? 'unstable' : 'differs';
    }
}

/**
 * A test's own file, and the one to run for it. What a PDO driver takes over from all drivers is run by its common.phpt,
 * and gets a name in the driver's folder, as its output does: "ext/pdo_mysql/tests/pdo_001.phpt".
 *
 * @return array{string, string}
 */
function namesOf(string $index, string $work): array
{
    if (!preg_match('/^# (.+): (\S+)$/', $index, $found)) {
        return [str_replace("$work/src/", '', $index), $index];
    }
    [, $by, $test] = $found;
    if (!str_ends_with($by, '.phpt')) { // run-tests.php gives either the file or, one test at a time, its title
        foreach (glob("$work/src/ext/*/tests/common.phpt") as $common) {
            if (str_starts_with(file_get_contents($common), "--TEST--\n$by\n")) {
                $by = $common;
                break;
            }
        }
    }
    $by = str_replace("$work/src/", '', $by);
    return [dirname($by) . '/' . basename($test), $by];
}

/** @return array<string, Test> by their names */
function tests(string $work): array
{
    $tests = [];
    for ($round = 0; is_file("$work/round$round/loaded/results"); $round++) {
        foreach (['stock', 'loaded'] as $way) {
            $folder = "$work/round$round/$way";
            foreach (file("$folder/results", FILE_IGNORE_NEW_LINES) as $line) {
                [$status, $index] = explode("\t", $line, 2);
                [$name, $file] = namesOf($index, $work);
                $output = "$folder/" . substr($name, 0, -strlen('.phpt')) . '.out';
                $output = $status !== 'PASSED' && is_file($output) ? file_get_contents($output) : '';
                $tests[$name] ??= new Test($file);
                $tests[$name]->$way[$round] = new Outcome($status, $output);
            }
        }
    }
    ksort($tests);
    return $tests;
}

/** @return array<string, string> the reasons by patterns */
function known(string $file): array
{
    $known = [];
    foreach (file($file, FILE_IGNORE_NEW_LINES) as $line) {
        if ($line !== '' && $line[0] !== '#') {
            [$pattern, $reason] = preg_split('/\s+/', $line, 2) + [1 => ''];
            $reason !== '' || throw new RuntimeException("known-differences: no reason is given for $pattern");
            $known[$pattern] = $reason;
        }
    }
    return $known;
}

/** @return array<string, array<string, true>> the scripts for each event that prepend.php notes */
function ticks(string $work): array
{
    $ticks = ['among' => [], 'ended' => []];
    if (!is_dir("$work/ticks")) {
        return $ticks;
    }
    foreach (new FilesystemIterator("$work/ticks", FilesystemIterator::KEY_AS_FILENAME | FilesystemIterator::SKIP_DOTS) as $name => $note) {
        $ticks[strstr($name, '-', true)][str_replace("$work/src/", '', readlink($note->getPathname()))] = true;
    }
    return $ticks;
}

if ($argv[1] === '--differing') {
    $differing = array_filter(tests($argv[2]), static fn (Test $test) => $test->verdict() === 'differs');
    foreach (array_unique(array_column($differing, 'file')) as $file) {
        echo $file, "\n";
    }
    exit(0);
}

[, $work, $knownFile] = $argv;
$folders = array_slice($argv, 3);
$known = known($knownFile);
$ticks = ticks($work);
$columns = ['tests', 'stock pass', 'pass', 'same fail', 'prepended', 'settled', 'unstable', 'skipped', 'known', 'differ',
    'ended', 'gave way'];
$table = array_fill_keys([...$folders, 'all'], array_fill_keys($columns, 0));
$met = $needed = $report = [];

foreach (tests($work) as $name => $test) {
    $folder = current(array_filter($folders, static fn ($folder) => str_starts_with($name, "$folder/"))) ?: 'all';
    $stock = $test->stock[0]->status ?? 'no result';
    $loaded = $test->loaded[0]->status ?? 'no result';
    $column = match ($verdict = $test->verdict()) {
        'same' => ['PASSED' => 'pass', 'SKIPPED' => 'skipped'][$stock] ?? 'same fail',
        'differs' => 'differ',
        default => $verdict,
    };
    foreach (array_keys($known) as $pattern) {
        if (fnmatch($pattern, $name)) {
            $met[$pattern] = true;
            if ($verdict === 'differs') {
                $needed[$pattern] = true;
                $column = 'known';
            }
        }
    }
    if ($column === 'differ') {
        $report[] = "DIFFERS: $name: $stock on stock PHP, $loaded with Spindle";
    } elseif ($column === 'settled') {
        $report[] = "settled when run again: $name: $stock on stock PHP, $loaded with Spindle at first";
    }
    $script = substr($name, 0, -strlen('.phpt')) . '.php';
    $counted = ['tests', $column];
    if ($stock === 'PASSED') {
        $counted[] = 'stock pass';
    }
    if ($loaded !== 'SKIPPED') {
        array_push($counted, ...array_keys(array_filter(
            ['ended' => isset($ticks['ended'][$script]), 'gave way' => isset($ticks['among'][$script])],
        )));
    }
    foreach (array_unique([$folder, 'all']) as $row) {
        foreach ($counted as $column) {
            $table[$row][$column]++;
        }
    }
}
$all = $table['all'];
$failed = $all['differ'];
foreach (array_diff_key($met, $needed) as $pattern => $_) {
    if (str_starts_with($known[$pattern], 'sometimes: ')) {
        continue;
    }
    $report[] = "DOES NOT DIFFER, though it is in the list of known differences: $pattern ($known[$pattern])";
    $failed++;
}
foreach (is_dir("$work/ticks") ? FLOORS : [] as [$folder, $column, $share]) {
    $ran = $table[$folder]['tests'] - $table[$folder]['skipped'];
    if ($ran >= 20 && $table[$folder][$column] < $share * $ran) {
        $report[] = "TOO FEW: {$table[$folder][$column]} of $ran tests in $folder are in the column '$column'";
        $failed++;
    }
}
echo $report === [] ? '' : implode("\n", $report) . "\n\n";

printf('%-15s' . str_repeat('%11s', count($columns)) . "\n", 'folder', ...$columns);
foreach ($table as $folder => $numbers) {
    if ($numbers['tests'] > 0) {
        printf('%-15s' . str_repeat('%11d', count($columns)) . "\n", $folder, ...array_values($numbers));
    }
}
$passed = $all['tests'] - $all['skipped'] - $all['known'] - $all['differ'];
echo "$passed passed, $failed failed, ", $all['skipped'] + $all['known'], " skipped\n";
exit($failed === 0 && $passed > 0 ? 0 : 1);
