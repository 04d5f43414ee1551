<?php
/*
 * Compares what one case gave on stock PHP with what it gave beside Spindle, and prints a line for each check.
 *
 *   php -n compare.php EXTENSION STOCK WITH [STATUS]
 *
 * STOCK and WITH are what the workers wrote. The exit status: 0 when WITH is whole, 3 when it ended within a check, which is
 * added to WITH.skip; then the others can be run.
 */
[, $extension, $stock, $with, $status, $seed] = $argv;

function lines(string $file): array
{
    return array_map(static fn($line) => json_decode($line, true), is_file($file) ? file($file) : []);
}

function brief(mixed $value): string
{
    $text = json_encode($value, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE);
    return strlen($text) > 600 ? substr($text, 0, 600) . '…' : $text;
}

function say(string $word, string $check, string $why = ''): void
{
    global $extension, $seed;
    printf("%-5s %s: %s%s%s\n", $word, $extension, $check, $seed === '0' ? '' : " (seed $seed)", $why === '' ? '' : ": $why");
}

$expected = array_column(lines($stock), 'results', 'check');
$broken = null;
$stuck = '';
foreach (lines($with) as $line) {
    if (isset($line['begins'])) {
        $broken = $line['begins'];
    } elseif (isset($line['stuck'])) {
        $stuck = brief($line['stuck']);
    } elseif (isset($line['check'])) {
        $broken = null;
        $check = $line['check'];
        $orders = $expected[$check] ?? null;
        if ($orders === null) {
            say('FAIL', $check, 'stock PHP did not get here');
            continue;
        }
        $why = [];
        foreach ($line['results'] as $mode => $result) {
            $inside = $result['inside'];
            unset($result['inside']);
            $objects = $mode === 'one' ? 'one object' : 'two objects';
            if (!in_array($result, $orders[$mode], true)) {
                $why[] = "$objects: gives " . brief($result) . "\n      instead of " . implode("\n              or ", array_map(brief(...), array_unique($orders[$mode], SORT_REGULAR)));
            }
            if ($inside === 0) {
                $why[] = "$objects: nobody was suspended in it";
            }
        }
        say($why ? 'FAIL' : 'ok', $check, implode("\n      ", $why));
    } elseif (isset($line['done'])) {
        exit(0);
    }
}
$end = $stuck !== '' ? "stuck: $stuck" : "the process ended with status $status";
say('FAIL', $broken ?? 'as a whole', $end);
if ($broken !== null) {
    file_put_contents("$with.skip", "$broken\n", FILE_APPEND);
    exit(3);
}
