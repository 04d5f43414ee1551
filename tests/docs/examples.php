<?php

/**
 * Runs every example of README.md and docs/*.md with the extension that was built.
 *
 *     tests/docs/run [FILE...]
 *
 * An example in PHP is a block fenced as ```php. It must end with status 0 and print no warning. What it prints must be
 * the block fenced as ```output after it, if there is one; a time in seconds ("0.5 s") may be longer. A comment before the block excuses it, and says why:
 * <!-- not run: needs a database -->.
 *
 * One after <!-- examples/FILE.php --> is not run here: it must be that program, which tests/examples runs, without the comment at its top.
 *
 * In a block fenced as ```console, bash runs the lines that begin with "$ ", and what is printed must be the others. The
 * PHP example that comes before it is there as example.php, and `spindle` is the command that was built. The last command
 * must end with status 0.
 *
 * The last line is "N passed, N failed, N skipped".
 */

declare(strict_types=1);

$root = ROOT;
$extension = Runner\extension();
$files = array_slice($argv, 1) ?: ["$root/README.md", ...glob("$root/docs/*.md"), ...glob("$root/docs/*/*.md")];
$passed = $failed = $skipped = 0;

foreach ($files as $file) {
    $text = file_get_contents($file);
    $pattern = '/(?:^<!-- (?:not run: (?<excuse>[^\n]*?)|(?<program>examples\/[^\n]*?)) -->\n+)?'
        . '^```(?<kind>php|console)\n(?<code>.*?)^```\n'
        . '(?:(?:[^\n`]*\n){0,4}?```output\n(?<output>.*?)^```$)?/ms';
    preg_match_all($pattern, $text, $examples, PREG_SET_ORDER | PREG_OFFSET_CAPTURE | PREG_UNMATCHED_AS_NULL);
    $php = '';
    foreach ($examples as $example) {
        $code = $example['code'][0];
        $is_php = $example['kind'][0] === 'php';
        if ($is_php) {
            $php = str_starts_with($code, '<?php') ? $code : "<?php\n$code";
        }
        $place = basename($file) . ':' . substr_count($text, "\n", 0, $example['code'][1]);
        if ($example['excuse'][0] !== null) {
            echo "not run: $place: {$example['excuse'][0]}\n";
            $skipped++;
            continue;
        }
        if ($example['program'][0] !== null) {
            $program = preg_replace('~^<\?php\n\n/\*\*.*?\*/\n\n~s', '', (string) @file_get_contents("$root/{$example['program'][0]}"));
            $program === $code ? $passed++ : $failed++;
            echo $program === $code ? '' : "FAILED: $place: is not {$example['program'][0]}\n";
            continue;
        }
        $command = $is_php ? php($extension) : console($code);
        $expected = $is_php ? $example['output'][0] ?? null : $code;
        [$wrong, $printed] = attempt($php, $command, $expected);
        if ($wrong === null) {
            $passed++;
        } else {
            $failed++;
            echo "FAILED: $place: $wrong:\n", preg_replace('/^/m', '    ', rtrim($printed)), "\n";
        }
    }
}
Runner\close($passed, $failed, $skipped);

/**
 * @param list<string> $command
 * @return array{?string, string} what is wrong, if anything, and what was printed
 */
function attempt(string $php, array $command, ?string $expected): array
{
    [$status, $printed] = run($php, $command);
    if (!str_contains($expected ?? '', 'has blocked the event loop')) {
        // On a busy machine a coroutine has it for long that does little.
        $printed = preg_replace('/^(PHP )?Warning: +.*(?:has blocked the event loop for|event loop was blocked here) .*\n/m', '', $printed);
    }
    return [match (true) {
        $status !== 0 => "ended with status $status",
        preg_match('/^(PHP )?(Warning|Notice|Deprecated): /m', $printed) === 1 => 'printed a message',
        $expected !== null && !is_like(rtrim($printed), rtrim($expected)) => 'printed something else than it says',
        default => null,
    }, $printed];
}

/** Is a text what was expected, but for times that may be longer? */
function is_like(string $printed, string $expected): bool
{
    $time = '/\b\d+\.\d+(?= s\b)/';
    preg_match_all($time, $printed, $took);
    preg_match_all($time, $expected, $least);
    return preg_replace($time, '', $printed) === preg_replace($time, '', $expected)
        && array_filter($took[0], fn($time, $i) => (float) $time < (float) $least[0][$i], ARRAY_FILTER_USE_BOTH) === [];
}

/** @return list<string> */
function php(string $extension): array
{
    $settings = ['-d', "extension=$extension", '-d', 'display_errors=1', '-d', 'log_errors=0', '-d', 'html_errors=0'];
    return [PHP_BINARY, ...$settings, 'example.php'];
}

/** @return list<string> what prints each command and then runs it; the status is that of the last one */
function console(string $block): array
{
    preg_match_all('/^\$ (.*)$/m', $block, $commands);
    $echoed = array_map(fn($command) => 'echo ' . escapeshellarg("$ $command") . "\n$command\n", $commands[1]);
    return ['bash', '-c', 'PATH=' . escapeshellarg(ROOT . '/build') . ":\$PATH\n" . implode($echoed)];
}

/**
 * @param list<string> $command run in a folder with example.php
 * @return array{int, string} exit status, and all that was printed
 */
function run(string $php, array $command): array
{
    $folder = sys_get_temp_dir() . '/spindle-docs.' . bin2hex(random_bytes(6));
    mkdir($folder, 0700);
    file_put_contents("$folder/example.php", $php);
    // Output and messages to one file, in the order in which they were written.
    $printed = ['file', "$folder/printed", 'a'];
    $command = ['timeout', '-s', 'KILL', '120', ...$command];
    $process = proc_open($command, [['file', '/dev/null', 'r'], $printed, $printed], $pipes, $folder);
    $status = proc_close($process);
    $printed = file_get_contents("$folder/printed");
    exec('rm -rf ' . escapeshellarg($folder));
    return [$status, $printed];
}
