<?php
/*
 * One scene in a process of its own, counted and with faults: php scene.php NAME. conduct.php starts it.
 *
 * A scene is a file in scenes/ that returns ['work' => fn(int $copy): mixed, …]: plain synchronous PHP that throws what
 * a function told by false. Its copies run at once as coroutines, or one after the other on stock PHP. Further keys:
 * 'copies' (default 2); 'before', a function that runs before anything is counted or fails; 'after', whose answer,
 * made when faults are over, belongs to the answers.
 *
 * Written to SCENE_OUT: what each copy answered or threw, the warnings, and what is left afterwards.
 */
namespace Matrix;

use Async;

require __DIR__ . '/../extensions/lib.php';
require __DIR__ . '/lib.php';

\ini_set('default_socket_timeout', 2);
\error_reporting(E_ALL);
$warnings = [];
\set_error_handler(static function (int $level, string $message) use (&$warnings): bool {
    if (\error_reporting() & $level) {
        $warnings[same_for_all($message)] = true;
    }
    return true;
});

/** What a copy came to. */
function outcome(callable $work, int $copy): array
{
    try {
        return ['answer' => $work($copy)];
    } catch (\Throwable $e) {
        return ['threw' => same_for_all($e::class . ': ' . $e->getMessage())];
    }
}

/**
 * Open descriptors, child processes and coroutines, once what ends behind the scenes has had the time to: at most half
 * of conduct.php's LIMIT, so that a scene with a leak ends and tells of it.
 */
function left(array $allowed): array
{
    $children = static function (): array {
        $found = [];
        foreach (\glob('/proc/[0-9]*/stat') as $file) {
            if (\preg_match('~^\d+ \((.*)\) (\S) (\d+) ~s', (string) @\file_get_contents($file), $m) && (int) $m[3] === \getmypid()) {
                $found[] = "$m[1] $m[2]";
            }
        }
        return $found;
    };
    $deadline = \hrtime(true) + 120_000_000_000;
    do {
        \gc_collect_cycles();
        $descriptors = \array_values(\array_map(same_for_all(...), open_descriptors()));
        \sort($descriptors);
        if (\count($descriptors) <= $allowed['descriptors'] && $children() === []) {
            break;
        }
        \usleep(10_000);
    } while (\hrtime(true) < $deadline);
    $live = is_async() ? \count(Async\getCoroutines()) : 1;
    return ['descriptors' => $descriptors, 'children' => $children(), 'coroutines' => $live];
}

[, $name] = $argv;
['work' => $work, 'copies' => $copies, 'before' => $before, 'after' => $after]
    = (require __DIR__ . "/scenes/$name.php") + ['copies' => 2, 'before' => null, 'after' => null];
$before === null or $before();
$allowed = ['descriptors' => (int) (\getenv('SCENE_DESCRIPTORS') ?: 0)];

\Faults\begin();
$outcomes = [];
if (is_async()) {
    // Spindle's own needs may fail as well: at the first spawn, and at the first switch.
    $coroutines = [];
    for ($copy = 0; $copy < $copies; $copy++) {
        $coroutines[] = Async\spawn(outcome(...), $work, $copy);
    }
    foreach ($coroutines as $coroutine) {
        try {
            $outcomes[] = Async\await($coroutine);
        } catch (\Throwable $e) {
            $outcomes[] = ['threw' => same_for_all($e::class . ': ' . $e->getMessage())];
        }
    }
    unset($coroutine, $coroutines, $e);
} else {
    for ($copy = 0; $copy < $copies; $copy++) {
        $outcomes[] = outcome($work, $copy);
    }
}
\Faults\end();

$after = $after === null ? null : $after();
unset($work, $before);
\ksort($warnings);
$result = ['outcomes' => $outcomes, 'after' => $after, 'warnings' => \array_keys($warnings), 'left' => left($allowed)];
\file_put_contents(\getenv('SCENE_OUT'), \json_encode($result, JSON_THROW_ON_ERROR | JSON_INVALID_UTF8_SUBSTITUTE));
