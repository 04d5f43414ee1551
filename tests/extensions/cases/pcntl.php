<?php
namespace Matrix;

$child = static function (int $n): int {
    $pid = \pcntl_fork();
    if ($pid === 0) {
        \usleep(50_000);
        \posix_kill(\getmypid(), SIGKILL);
    }
    return $pid;
};
check('pcntl_waitpid', static fn($_, int $n) => [\pcntl_waitpid($pid = $child($n), $status) === $pid, \pcntl_wtermsig($status)], in: 'pcntl_waitpid');
check('pcntl_waitpid, of one child', static fn($pid, int $n) => [\pcntl_waitpid($pid, $status) === $pid], static fn() => $child(0), in: 'pcntl_waitpid');
check('pcntl_signal_get_handler', static fn($_, int $n) => noisily(fn() => \pcntl_signal_get_handler(10.5)), in: 'pcntl_signal_get_handler');
check('pcntl_exec', static fn($_, int $n) => noisily(fn() => \pcntl_exec("/none$n", texts('a'))), in: 'pcntl_exec');
