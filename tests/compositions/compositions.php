<?php
/**
 * Random compositions: programs whose jobs compose features of PHP and of its extensions, with values, exceptions, warnings, output
 * and destructors. Each is run by PHP alone, one job after the other, and by Spindle, all jobs at once beside others that are
 * cancelled. Their results must be the same.
 *
 *   extensions/run --compositions [--programs N] [--seed N] [--jobs N] [--show] [--keep]
 *
 * Runs the programs in the folder `found`, which have found something once, and N made ones (100) from the first --seed (1) on.
 * --seed with --show prints that program, and what each side makes of it; a copy of it in `found` stays the same when there are more
 * features. Each program is run in one of several ways: as it is, with ready coroutines in random order, with malloc's allocator, with
 * opcache, and with its JIT. --jobs run at once (2).
 *
 * A result that differs is printed with the program's seed. The last line is "N passed, N failed, N skipped".
 */
declare(strict_types=1);

namespace Compositions;

require dirname(__DIR__) . '/runner.php';
require __DIR__ . '/kit.php';
require __DIR__ . '/shared/classes.php';
require __DIR__ . '/features.php';
require __DIR__ . '/generator.php';

/** The time that a program may take, in seconds: which takes longer hangs. */
const LIMIT = 120;

$options = \Runner\options(['programs:', 'seed:', 'jobs:', 'show', 'keep']);
$extension = \Runner\extension();
$work = \Runner\work('compositions', isset($options['keep']));
$first = (int) ($options['seed'] ?? 1);

/** @return array{string, array<string, string>} options of PHP, and variables */
function way(int $seed): array
{
    $opcache = '-d opcache.enable_cli=1 -d opcache.jit_buffer_size=';
    return match ($seed % 6) {
        0 => ['', []],
        1, 2 => ["-d async.seed=$seed", []],
        3 => ['', ['USE_ZEND_ALLOC' => '0']],
        4 => ["$opcache" . '0', []],
        5 => ["$opcache" . '32M -d opcache.jit=' . ($seed % 12 === 5 ? 'tracing' : 'function'), []],
    };
}

/** @return array{resource, resource, float} a PHP that runs a program, its output, and when it began */
function begin(string $options, array $variables, string $program): array
{
    $command = 'exec timeout -s KILL ' . LIMIT . ' ' . escapeshellarg(PHP_BINARY) . " -d memory_limit=1G -d display_errors=1 -d html_errors=0 -d max_execution_time=0 $options " . escapeshellarg(__DIR__ . '/program.php') . ' ' . escapeshellarg($program);
    $errors = fopen('/dev/null', 'w'); // programs that it runs complain of cancellations
    $output = fopen("$program." . ($options === '' ? 'alone' : 'spindle'), 'w+');
    $process = proc_open($command, [['file', '/dev/null', 'r'], $output, $errors], $pipes, env_vars: $variables + getenv());
    return [$process, $output, microtime(true)];
}

/** @return array{string, string} what it printed, and how it ended where that was not well */
function ended(array $running, int $status): array
{
    rewind($running[1]);
    return [trim(stream_get_contents($running[1])), $status === 0 ? '' : ($status === 137 ? 'killed: it hangs, or used too much' : "status $status")];
}

/** How many times the results of two runs differ, or what makes them incomparable; an empty list if they are the same. */
function differences(array $alone, array $spindle): array
{
    if ($alone[1] !== '') {
        return ["PHP alone: $alone[1]: " . substr($alone[0], -600)];
    }
    [$wanted, $got] = [json_decode($alone[0], true), json_decode($spindle[0], true)];
    if ($spindle[1] !== '' || !is_array($got) || !is_array($wanted)) {
        return ["$spindle[1] " . substr($spindle[0], 0, 1500)];
    }
    $differences = [];
    foreach ($wanted as $job => $result) {
        if (($got[$job] ?? null) !== $result) {
            $differences[] = "job $job:\n      alone   " . json_encode($result) . "\n      spindle " . json_encode($got[$job] ?? null);
        }
    }
    return $differences;
}

$count = isset($options['show']) ? 1 : (int) ($options['programs'] ?? 100);
$seeds = [...isset($options['show']) ? [] : glob(__DIR__ . '/found/*.php'), ...range($first, $first + $count - 1)];
$jobs = (int) ($options['jobs'] ?? 2);
$running = [];
$passed = $failed = 0;
while ($seeds || $running) {
    while ($seeds && count($running) < $jobs) {
        $seed = array_shift($seeds);
        $file = "$work/" . (is_int($seed) ? "$seed.php" : basename($seed));
        is_int($seed) ? file_put_contents($file, (new Generator($seed))->program()) : copy($seed, $file);
        [$way, $variables] = way(is_int($seed) ? $seed : crc32($seed));
        $seed = basename($file, '.php');
        $running[$seed] = ['way' => trim("$way " . http_build_query($variables)), 'alone' => begin('', [], $file), 'spindle' => begin('-d extension=' . escapeshellarg($extension) . " $way", $variables, $file)];
    }
    foreach ($running as $seed => &$sides) {
        $ends = [];
        foreach (['alone', 'spindle'] as $side) {
            if (count($sides[$side]) === 3) {
                $status = proc_get_status($sides[$side][0]);
                if ($status['running']) {
                    continue 2;
                }
                $sides[$side][] = $status['signaled'] ? 128 + $status['termsig'] : $status['exitcode'];
            }
            $ends[$side] = ended($sides[$side], $sides[$side][3]);
        }
        $differences = differences($ends['alone'], $ends['spindle']);
        if (isset($options['show'])) {
            echo file_get_contents("$work/$seed.php"), "\nalone:   {$ends['alone'][0]}\nspindle: {$ends['spindle'][0]}\n";
        }
        if ($differences) {
            $failed++;
            echo "FAILED: seed $seed (", $sides['way'], ")\n    ", implode("\n    ", $differences), "\n";
        } else {
            $passed++;
            isset($options['keep']) || array_map(unlink(...), glob("$work/$seed.php*"));
        }
        unset($running[$seed]);
    }
    unset($sides);
    usleep(2000);
}
\Runner\close($passed, $failed, 0);
