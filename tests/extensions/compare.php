<?php
/*
 * Compares what the checks of one case gave on stock PHP and with coroutines, and prints a line per check.
 *
 *   php -n compare.php CASE SEED STOCK [WITH]     files that worker.php has written, and the runner the statuses
 */
[, $case, $seed, $stock_file, $with_file] = $argv + [4 => null];

/** What the processes of a case have left: the checks, what ended each that has begun only, and how it ended as a whole. */
final class Outcome
{
    public array $checks = [];
    public array $broken = [];
    public ?string $death = 'the process ended without it';
    public bool $is_whole = false;

    public function __construct(string $file)
    {
        $begun = null;
        foreach (file($file) as $line) {
            $line = json_decode($line, true) ?? [];
            if (isset($line['begins'])) {
                $begun = $line['begins'];
            } elseif (isset($line['name'])) {
                $this->checks[$line['name']] = $line;
                $begun = null;
            } elseif (isset($line['status'])) {
                $this->death = $line['status'] === 0 ? 'the process ended without it' : 'the process ' . self::death($line['status'], $file);
                $begun === null or $this->broken[$begun] = $this->death;
                $begun = null;
            }
            $this->is_whole = isset($line['done']) || $this->is_whole && ($line['status'] ?? 0) === 0;
        }
    }

    /** What ended the process, from the exit status that `timeout` or the shell gave. */
    private static function death(int $status, string $file): string
    {
        $signals = [132 => 'SIGILL', 134 => 'SIGABRT', 135 => 'SIGBUS', 136 => 'SIGFPE', 137 => 'SIGKILL (time limit?)', 139 => 'SIGSEGV'];
        $last = preg_grep('/^(---|\s*$)/', file("$file.err", FILE_IGNORE_NEW_LINES), PREG_GREP_INVERT);
        return (isset($signals[$status]) ? "ended by $signals[$status]" : "ended with status $status") . ($last ? ': ' . end($last) : '');
    }
}

/** The first difference of two answers, for people. */
function difference(mixed $stock, mixed $with, string $at = ''): ?string
{
    if ($stock === $with) {
        return null;
    }
    if (is_array($stock) && is_array($with)) {
        foreach ($stock + $with as $key => $_) {
            if (!array_key_exists($key, $stock) || !array_key_exists($key, $with)) {
                return "{$at}[$key] is " . (array_key_exists($key, $stock) ? 'missing' : 'not in the stock answer');
            }
            $difference = difference($stock[$key], $with[$key], "{$at}[$key]");
            if ($difference !== null) {
                return $difference;
            }
        }
        return "$at has another order";
    }
    return "$at is " . brief($with) . ', stock PHP answers ' . brief($stock);
}

function brief(mixed $value): string
{
    $text = json_encode($value, JSON_PRESERVE_ZERO_FRACTION | JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE);
    return strlen($text) > 300 ? substr($text, 0, 297) . '...' : $text;
}

/** What is wrong with what a check gave. */
function problems(array $stock, array $with): array
{
    if ($with['problems'] !== [] || ($stock['async'] ?? false)) {
        return $with['problems'];
    }
    $problems = [];
    foreach ($stock['orders'] ? $with['answers'] : [] as $part => [$answer]) {
        $differences = array_map(fn($order) => difference($order, $answer, "$part: answers"), $stock['answers'][$part]);
        in_array(null, $differences, true) or $problems[] = implode("\n      and ", array_unique($differences));
    }
    $whole = $stock['orders'] ? ['warnings'] : ['answers', 'warnings'];
    return array_filter([...$problems, ...array_map(fn($what) => difference($stock[$what], $with[$what], $what), $whole)]);
}

function say(string $word, string $check, string $rest = ''): void
{
    global $case, $seed;
    $what = "$case: $check" . ((int) $seed === 0 ? '' : " (seed $seed)");
    echo $word === 'ok' ? rtrim(sprintf('ok    %-58s %s', $what, $rest)) : "FAIL  $what: $rest", "\n";
}

$stock = new Outcome($stock_file);
$with = $with_file === null ? null : new Outcome($with_file);

if (!$stock->is_whole) {
    echo "FAIL  $case: on stock PHP $stock->death\n";
} elseif ($stock->checks === []) {
    echo "FAIL  $case: has no check\n";
}
foreach ($stock->checks as $name => $reference) {
    $problems = array_map(fn($problem) => "on stock PHP: $problem", $reference['problems'] ?? []);
    $check = $with === null ? $reference : $with->checks[$name] ?? null;
    if ($with === null && isset($reference['async'])) {
        continue;
    }
    if ($check === null) {
        $problems[] = 'did not run to its end, ' . ($with->broken[$name] ?? $with->death);
    } elseif ($with !== null) {
        $problems = [...$problems, ...problems($reference, $check)];
    }
    $shown = [];
    foreach ($check['facts'] ?? [] as $fact => $value) {
        $shown[] = match ($fact) {
            'wall' => sprintf('%.2f s', $value),
            'n' => "$value works",
            'ticks' => "$value ticks",
            'stall' => "stall $value ms",
            default => "$fact $value",
        };
    }
    $shown = implode(', ', $shown);
    $problems === [] ? say('ok', $name, $shown) : say('FAIL', $name, implode('; ', $problems) . ($shown === '' ? '' : " ($shown)"));
}
// named by the coroutine run alone, or a death after the last check
foreach (array_diff_key($with->checks ?? [], $stock->checks) as $name => $_) {
    say('FAIL', $name, 'stock PHP has no such check');
}
if ($with !== null && !$with->is_whole && array_diff_key($stock->checks, $with->checks) === []) {
    echo "FAIL  $case: after its last check $with->death\n";
}
