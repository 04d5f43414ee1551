<?php
/*
 * Runs a command while its PHP processes stand still at random, as they do on a machine that has others to run.
 *
 *     cargo xtask test --stall NAME... [-- OPTION...]
 *     php tests/stall.php [--run MS-MS] [--stop MS-MS] [--only REGEX] [--seed N] COMMAND...
 *
 * Each process below the command whose name matches --only (^php) runs for a while that is drawn from --run (5-80), is
 * stopped (SIGSTOP) for one drawn from --stop (50-500), and so on until it ends: no two processes at the same time, and
 * wherever they happen to be. A test that passes only when something is done within some milliseconds fails here within a
 * few runs. What a stop is seen by is no fault: some system calls fail with EINTR after it (signal(7)), and a limit of wall
 * time is one. PHP's run-tests.php itself is not stopped. The status is that of the command; nothing is left stopped.
 */
$run = [5, 80];
$stop = [50, 500];
$only = '^php';
$seed = null;
$command = array_slice($argv, 1);
while (str_starts_with($command[0] ?? '', '--')) {
    $option = array_shift($command);
    $value = array_shift($command);
    match ($option) {
        '--run' => $run = array_map('intval', explode('-', $value)),
        '--stop' => $stop = array_map('intval', explode('-', $value)),
        '--only' => $only = $value,
        '--seed' => $seed = (int) $value,
        default => exit(fwrite(STDERR, "stall: there is no option $option\n") && 2),
    };
}
if (!$command) {
    fwrite(STDERR, "stall: there is no command\n");
    exit(2);
}
mt_srand($seed ?? random_int(0, PHP_INT_MAX));

$process = proc_open($command, [STDIN, STDOUT, STDERR], $pipes);
$root = proc_get_status($process)['pid'];

/** The processes below one, those that are matched. */
function below(int $pid, string $only): array
{
    $found = [];
    foreach (@glob("/proc/$pid/task/*/children") ?: [] as $file) {
        foreach (explode(' ', trim((string) @file_get_contents($file))) as $child) {
            if ($child === '') {
                continue;
            }
            $name = rtrim((string) @file_get_contents("/proc/$child/comm"));
            if (preg_match("~$only~", $name) && !str_contains((string) @file_get_contents("/proc/$child/cmdline"), 'run-tests.php')) {
                $found[] = (int) $child;
            }
            array_push($found, ...below((int) $child, $only));
        }
    }
    return $found;
}

/** @var array<int, array{float, bool}> when each is stopped or continued next, and whether it is stopped */
$next = [];
$stalls = 0;
pcntl_async_signals(true);
$end = static function (int $signal) use (&$next, $root): never {
    foreach ($next as $pid => [, $stopped]) {
        $stopped && posix_kill($pid, SIGCONT);
    }
    posix_kill($root, $signal);
    exit(128 + $signal);
};
pcntl_signal(SIGINT, $end);
pcntl_signal(SIGTERM, $end);

while (($status = proc_get_status($process))['running']) {
    $now = hrtime(true) / 1e6;
    $alive = [];
    foreach (below($root, $only) as $pid) {
        [$at, $stopped] = $next[$pid] ?? [$now + mt_rand($run[0] * 1000, $run[1] * 1000) / 1000, false];
        if ($now >= $at) {
            $stopped = !$stopped;
            $stalls += (int) $stopped;
            posix_kill($pid, $stopped ? SIGSTOP : SIGCONT);
            [$least, $most] = $stopped ? $stop : $run;
            $at = $now + mt_rand($least * 1000, $most * 1000) / 1000;
        }
        $alive[$pid] = [$at, $stopped];
    }
    foreach (array_diff_key($next, $alive) as $pid => [, $stopped]) {
        $stopped && posix_kill($pid, SIGCONT); // its parent has gone, and it no longer counts as below the command
    }
    $next = $alive;
    usleep(2000);
}
fwrite(STDERR, "stall: $stalls stops\n");
exit($status['signaled'] ? 128 + $status['termsig'] : $status['exitcode']);
