<?php
/*
 * Compares what the checks of one case gave on stock PHP and with coroutines, and prints a line per check.
 *
 *   php -n compare.php CASE SEED STOCK [WITH]     files that worker.php has written, and the runner the statuses
 */
[, $case, $seed, $stock_file, $with_file] = $argv + [4 => null];

/** What the processes of a case have left: the checks, what ended each that has begun only, and other ends than the last one's. */
final class Outcome
{
    public array $checks = [];
    public array $broken = [];
    public array $deaths = [];
    private string $end = 'the process ended without it';

    public function __construct(string $file)
    {
        $begun = null;
        $last = 'before its first check';
        $done = false;
        foreach (file($file) as $line) {
            $line = json_decode($line, true) ?? [];
            if (isset($line['begins'])) {
                $begun = $line['begins'];
            } elseif (isset($line['name'])) {
                $this->checks[$line['name']] = $line;
                $begun = null;
                $last = "after its check '$line[name]'";
            } elseif (isset($line['done'])) {
                $done = true;
                $last = 'after its last check';
            } elseif (isset($line['status'])) {
                $this->end = $line['status'] === 0 ? 'the process ended without it' : 'the process ' . self::death($line['status'], $file);
                if ($begun !== null) {
                    $this->broken[$begun] = $this->end;
                } elseif (!$done || $line['status'] !== 0) {
                    $this->deaths[] = "$last " . ($line['status'] === 0 ? 'the process ended' : $this->end);
                }
                $begun = null;
                $done = false;
            }
        }
    }

    /** Why there is nothing of a check. */
    public function missing(string $check): string
    {
        return $this->broken[$check] ?? $this->end;
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
    if (!isset($with['problems'])) {
        return ['it was not run as coroutines'];
    }
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

foreach ($stock->deaths as $death) {
    echo "FAIL  $case: on stock PHP $death\n";
}
foreach (array_diff_key($stock->broken, $stock->checks) as $name => $how) {
    say('FAIL', $name, "did not run to its end on stock PHP, $how");
}
if ($stock->checks === [] && $stock->deaths === [] && $stock->broken === []) {
    echo "FAIL  $case: has no check\n";
}
foreach ($stock->checks as $name => $reference) {
    $problems = array_map(fn($problem) => "on stock PHP: $problem", $reference['problems'] ?? []);
    $check = $with === null ? $reference : $with->checks[$name] ?? null;
    if ($with === null && isset($reference['async'])) {
        continue;
    }
    if ($check === null) {
        $problems[] = 'did not run to its end, ' . $with->missing($name);
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
// named by the coroutine run alone
foreach (array_diff_key(($with->checks ?? []) + ($with->broken ?? []), $stock->checks) as $name => $_) {
    say('FAIL', $name, 'stock PHP has no such check');
}
foreach ($with->deaths ?? [] as $death) {
    echo "FAIL  $case: $death\n";
}
