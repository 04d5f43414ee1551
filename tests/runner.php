<?php
/*
 * What the suites' runners in PHP begin and end with.
 */

declare(strict_types=1);

namespace Runner;

require_once __DIR__ . '/free_port.php';

/** Where the function that calls this was called. */
function place(): string
{
    ['file' => $file, 'line' => $line] = debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS, 2)[1];
    return ' in ' . basename($file) . ":$line";
}

/** Ends a run that cannot begin, or go on: without a closing line, with status 2. */
function fail(string $why): never
{
    fwrite(STDERR, basename($_SERVER['argv'][0]) . ": $why\n");
    exit(2);
}

/**
 * The options that a runner was given, as getopt() has them: those that all know, and these. With --help, and where there is
 * something else, it prints the comment at the top of the runner.
 *
 * @param list<string> $known
 * @return array<string, mixed>
 */
function options(array $known): array
{
    $options = getopt('', ['ext:', 'only:', 'list', 'help', ...$known], $rest);
    if (isset($options['help']) || $rest < $_SERVER['argc']) {
        preg_match('~^/\*\*?\n(.*?)\n \*/~ms', file_get_contents($_SERVER['argv'][0]), $found);
        fwrite(STDERR, preg_replace('/^ \* ?/m', '', $found[1]) . "\n");
        exit(2);
    }
    return $options;
}

/**
 * The names of the cases that are meant: those that match --only, of which there may be several. With --list they are printed,
 * and the run ends.
 *
 * @param list<string> $names
 * @return list<string>
 */
function meant(array $options, array $names): array
{
    $globs = (array) ($options['only'] ?? '*');
    $names = array_values(array_filter($names, static fn (string $name) => array_filter($globs, static fn (string $glob) => fnmatch($glob, $name)) !== []));
    if (isset($options['list'])) {
        echo implode("\n", $names), "\n";
        exit(0);
    }
    return $names;
}

/** What a case throws that cannot be tried here. */
final class Skipped extends \Exception {}

/**
 * Runs the cases that are meant, each with what `$with` makes of its name, and closes. A case fails by an exception, and else may
 * return something to tell.
 *
 * @param array<string, callable> $cases
 */
function run(array $options, array $cases, ?callable $with = null, ?callable $failed = null): never
{
    $counts = ['ok' => 0, 'FAIL' => 0, 'skip' => 0];
    foreach (meant($options, array_keys($cases)) as $name) {
        $since = hrtime(true);
        try {
            $told = $cases[$name](...($with ? [$with($name)] : []));
            $word = 'ok';
        } catch (Skipped $e) {
            [$word, $told] = ['skip', $e->getMessage()];
        } catch (\Exception $e) {
            [$word, $told] = ['FAIL', str_replace("\n", "\n      ", $e->getMessage()) . "\n" . ($failed ? $failed($name) : '')];
        } catch (\Error $e) {
            [$word, $told] = ['FAIL', "$e"];
        }
        $counts[$word]++;
        $told = $told === null ? sprintf('%.1f s', (hrtime(true) - $since) / 1e9) : rtrim($told);
        printf("%-6s%s: %s\n", $word, $name, $told);
        gc_collect_cycles();
    }
    close($counts['ok'], $counts['FAIL'], $counts['skip']);
}

/** The extension that is tested: the file that is named, SPINDLE_EXTENSION's, or what `make build` makes. */
function extension(?string $named = null): string
{
    $file = $named ?? (getenv('SPINDLE_EXTENSION') ?: dirname(__DIR__) . '/build/spindle.so');
    $is_listed = in_array('--list', $_SERVER['argv'], true);
    return realpath($file) ?: ($is_listed ? '' : fail("there is no $file; 'make build' makes it"));
}

/**
 * Makes a folder for the run, which servers that run as users of their own may enter. Signals end the run in order, and none
 * of them its end. However the run ends, the folder is removed, if it is not to be kept, after all functions for its end.
 */
function work(string $name, bool $keep = false): string
{
    $folder = sys_get_temp_dir() . "/spindle-$name." . bin2hex(random_bytes(4));
    $signals = [SIGINT, SIGTERM, SIGHUP];
    pcntl_async_signals(true);
    foreach ($signals as $signal) {
        pcntl_signal($signal, static fn (int $signal) => exit(128 + $signal));
    }
    $owner = getmypid();
    register_shutdown_function(static function () use ($folder, $keep, $owner, $signals): void {
        if (getmypid() !== $owner) {
            return;
        }
        foreach ($signals as $signal) {
            pcntl_signal($signal, SIG_IGN);
        }
        register_shutdown_function(static fn () => $keep ? fwrite(STDERR, "kept $folder\n") : remove($folder));
    });
    mkdir($folder);
    chmod($folder, 0755);
    return $folder;
}

function remove(string ...$paths): bool
{
    exec('rm -rf ' . implode(' ', array_map(escapeshellarg(...), $paths)), result_code: $status);
    return $status === 0;
}

/** Keeps what a run that has failed leaves to be read, in a folder of its suite in build/, where the next one replaces it. */
function keep_outputs(string $suite, string $folder): void
{
    $kept = dirname(__DIR__) . "/build/failed/$suite";
    remove($kept);
    @mkdir(dirname($kept), recursive: true);
    exec('mv ' . escapeshellarg($folder) . ' ' . escapeshellarg($kept), result_code: $status);
    fwrite(STDERR, $status === 0 ? "$suite: the outputs are in $kept\n" : "$suite: the outputs could not be kept in $kept\n");
}

/** Prints the closing line and ends the run. */
function close(int $passed, int $failed, int $skipped, string $label = ''): never
{
    echo $label === '' ? '' : "$label: ", "$passed passed, $failed failed, $skipped skipped\n";
    exit($failed === 0 && $passed > 0 ? 0 : 1);
}
