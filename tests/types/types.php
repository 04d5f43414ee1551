<?php
/*
 * Checks the types in packages/ide-helper: what an analyser infers of them, and that this is what happens.
 *
 *     tests/docs/run --types [--only NAME] [--list]
 *
 * Each file of cases/ is run, without the lines marked // ERROR: PHP checks the types of what it passes on. Then an analyser reads it,
 * which must find an error in each of these lines and in no other. That is Mago, by the name in SPINDLE_ANALYSER or on the PATH
 * ("cargo install mago" compiles it); without it this part is skipped.
 *
 * The last line is "N passed, N failed, N skipped".
 */

declare(strict_types=1);

$options = Runner\options(['types']);
$root = ROOT;
$extension = Runner\extension();
$analyser = getenv('SPINDLE_ANALYSER') ?: trim((string) shell_exec('command -v mago'));
if ($analyser !== '' && !is_executable($analyser)) {
    Runner\fail("SPINDLE_ANALYSER is $analyser, which cannot be executed");
}
$passed = $failed = $skipped = 0;

foreach (Runner\meant($options, array_map(static fn (string $file) => basename($file, '.php'), glob(__DIR__ . '/cases/*.php'))) as $name) {
    $file = __DIR__ . "/cases/$name.php";
    $lines = file($file);
    $marked = array_map(fn($index) => $index + 1, array_keys(preg_grep('~// ERROR$~', $lines)));
    if ($marked === []) Runner\fail("$file has no line marked // ERROR");

    report("$name runs", runs($lines, $extension));
    if ($analyser === '') {
        echo "skip  $name: there is no mago\n";
        $skipped++;
        continue;
    }
    $found = errors($analyser, $file, $root);
    $wrong = [];
    foreach (array_diff($marked, array_keys($found)) as $line) {
        $wrong[] = "line $line: no error is found: " . trim($lines[$line - 1]);
    }
    foreach (array_diff_key($found, array_flip($marked)) as $line => $error) {
        $wrong[] = "line $line: $error";
    }
    report("$name is understood", implode("\n", $wrong));
}
Runner\close($passed, $failed, $skipped);

function report(string $what, string $wrong): void
{
    global $passed, $failed;
    if ($wrong === '') {
        $passed++;
        return;
    }
    $failed++;
    echo "FAILED: $what:\n", preg_replace('/^/m', '    ', rtrim($wrong)), "\n";
}

/**
 * Runs a case without the lines marked as errors.
 *
 * @param list<string> $lines
 * @return string what was printed, which is nothing if all is well
 */
function runs(array $lines, string $extension): string
{
    $code = preg_replace(['~^.*// ERROR$~m', '~__DIR__~'], ['', var_export(__DIR__ . '/cases', true)], implode($lines));
    $file = tempnam(sys_get_temp_dir(), 'spindle-types');
    file_put_contents($file, $code);
    $settings = ['-d', "extension=$extension", '-d', 'display_errors=1', '-d', 'log_errors=0', '-d', 'html_errors=0'];
    $command = ['timeout', '-s', 'KILL', '60', PHP_BINARY, ...$settings, $file];
    exec(implode(' ', array_map(escapeshellarg(...), $command)) . ' 2>&1 </dev/null', $printed, $status);
    unlink($file);
    return implode("\n", $printed) . ($status === 0 ? '' : "\nended with status $status");
}

/** @return array<int, string> the errors that Mago finds in a file, by their lines */
function errors(string $analyser, string $file, string $root): array
{
    $settings = tempnam(sys_get_temp_dir(), 'spindle-types') . '.toml';
    $folder = fn(string $path) => json_encode($path, JSON_UNESCAPED_SLASHES);
    file_put_contents($settings, "php-version = \"8.2.0\"\n[source]\npaths = [{$folder($file)}]\n"
        . "includes = [{$folder("$root/packages/ide-helper/stubs")}, {$folder(__DIR__ . '/kit.php')}]\n");
    $command = [$analyser, '--workspace', dirname($file), '--config', $settings, '--colors', 'never', 'analyze', '--reporting-format', 'short'];
    exec(implode(' ', array_map(escapeshellarg(...), $command)) . ' 2>&1 </dev/null', $printed);
    unlink($settings);
    $errors = [];
    foreach ($printed as $line) {
        if (preg_match('~^\S*' . preg_quote(basename($file), '~') . ':(\d+):\d+: error(.*)$~', $line, $found)) {
            $errors[(int) $found[1]] ??= "error$found[2]";
        } elseif (preg_match('~: (?:warning|note|help)\[|^(?:error|warning|note|help): found \d+ issue|^\s*INFO |^\s*$~', $line) !== 1) {
            Runner\fail("the analyser says: $line");
        }
    }
    return $errors;
}
