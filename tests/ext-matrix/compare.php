<?php
/*
 * Compares what one case file left on stock PHP and with coroutines, and prints a line per check.
 *
 *   php -n compare.php CASE LOG_PREFIX SYNC_STATUS ASYNC_STATUS     ("none": there was no second run)
 */
[, $case, $prefix, $sync_status, $async_status] = $argv;

function checks(string $file): array
{
    $checks = [];
    foreach (is_file($file) ? file($file, FILE_IGNORE_NEW_LINES) : [] as $line) {
        $check = json_decode($line, true, 512, JSON_THROW_ON_ERROR);
        $checks[$check['name']] = $check;
    }
    return $checks;
}

/** What ended the process, from the exit status that `timeout` or the shell gave. */
function death(string $status, string $prefix): string
{
    $signals = [132 => 'SIGILL', 134 => 'SIGABRT', 135 => 'SIGBUS', 136 => 'SIGFPE', 137 => 'SIGKILL (time limit?)', 139 => 'SIGSEGV'];
    $said = array_filter(is_file("$prefix.err") ? file("$prefix.err", FILE_IGNORE_NEW_LINES) : [], fn($line) => !str_starts_with($line, '---'));
    $last = array_slice($said, -1)[0] ?? '';
    return (isset($signals[$status]) ? "ended by $signals[$status]" : "ended with status $status") . ($last === '' ? '' : ": $last");
}

/** The first difference of two answers, for people. */
function difference(mixed $stock, mixed $async, string $at = ''): ?string
{
    if ($stock === $async) {
        return null;
    }
    if (is_array($stock) && is_array($async)) {
        foreach ($stock + $async as $key => $_) {
            if (!array_key_exists($key, $stock) || !array_key_exists($key, $async)) {
                return "{$at}[$key] is " . (array_key_exists($key, $stock) ? 'missing' : 'not in the stock answer');
            }
            $difference = difference($stock[$key], $async[$key], "{$at}[$key]");
            if ($difference !== null) {
                return $difference;
            }
        }
        return "$at has another order";
    }
    $short = fn($value) => mb_strimwidth_plain(json_encode($value, JSON_PRESERVE_ZERO_FRACTION | JSON_UNESCAPED_SLASHES));
    return "$at is {$short($async)}, stock PHP answers {$short($stock)}";
}

function mb_strimwidth_plain(string $text): string
{
    return strlen($text) > 100 ? substr($text, 0, 97) . '...' : $text;
}

$sync = checks("$prefix.sync.json");
$async = checks("$prefix.async.json");
$died = $async_status === 'none' || $async_status === '0' ? null : death($async_status, "$prefix.async");

if ($sync_status !== '0') {
    echo "FAIL  $case: stock PHP ", death($sync_status, "$prefix.sync"), "\n";
}
if ($sync === []) {
    echo "FAIL  $case: has no check\n";
}
foreach ($sync as $name => $stock) {
    $only_async = $stock['async'] ?? false;
    if ($async_status === 'none' && $only_async) {
        continue;
    }
    $problems = array_map(fn($problem) => "on stock PHP: $problem", $stock['problems'] ?? []);
    $facts = $stock['facts'] ?? [];
    if ($async_status !== 'none') {
        $check = $async[$name] ?? null;
        if ($check === null) {
            $problems[] = 'did not run to its end' . ($died === null ? ', the process ended without it' : ", the process $died");
            $facts = [];
        } else {
            $problems = array_merge($problems, $check['problems']);
            $facts = $check['facts'];
            if (!$only_async && $check['problems'] === []) {
                foreach (['answers', 'warnings'] as $what) {
                    $difference = difference($stock[$what], $check[$what]);
                    $difference === null or $problems[] = "$what$difference";
                }
            }
        }
    }
    $shown = [];
    foreach ($facts as $fact => $value) {
        $shown[] = match ($fact) {
            'wall' => sprintf('%.2f s', $value),
            'n' => "$value works",
            'ticks' => "$value ticks",
            'stall' => "stall $value ms",
            default => "$fact $value",
        };
    }
    echo $problems === []
        ? rtrim(sprintf('ok    %-58s %s', "$case: $name", implode(', ', $shown))) . "\n"
        : "FAIL  $case: $name: " . implode('; ', $problems) . ($shown ? ' (' . implode(', ', $shown) . ')' : '') . "\n";
}
// named by the coroutine run alone, or a death after the last check
foreach (array_diff_key($async, $sync) as $name => $_) {
    echo "FAIL  $case: $name: stock PHP has no such check\n";
}
if ($died !== null && array_diff_key($sync, $async) === []) {
    echo "FAIL  $case: after its last check the process $died\n";
}
