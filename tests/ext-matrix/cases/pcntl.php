<?php
// needs: ext:pcntl ext:posix
// fork and wait by hand.
namespace Matrix;

/** Forks a child which runs $work and ends with the status that it returns. */
function forked(callable $work): int
{
    $pid = \pcntl_fork();
    if ($pid === 0) {
        exit($work());
    }
    return $pid;
}

matrix('waitpid', function (int $i): array {
    $pid = forked(function () use ($i): int {
        \usleep(ms() * 1000);
        return $i;
    });
    return [\pcntl_waitpid($pid, $status) === $pid, \pcntl_wifexited($status), \pcntl_wexitstatus($status)];
});

matrix('waitpid of a killed child', function (int $i): array {
    $pid = forked(function (): int {
        \sleep(20);
        return 0;
    });
    $killer = beside(function () use ($pid): bool {
        \usleep(ms() * 1000);
        return \posix_kill($pid, SIGTERM);
    });
    \pcntl_waitpid($pid, $status);
    return [\pcntl_wifsignaled($status), \pcntl_wtermsig($status), $killer()];
}, n: 10);

matrix('WNOHANG', function (int $i): array {
    $pid = forked(function () use ($i): int {
        \usleep(ms() * 1000);
        return $i;
    });
    $early = \pcntl_waitpid($pid, $status, WNOHANG);
    while (\pcntl_waitpid($pid, $status, WNOHANG) === 0) {
        \usleep(5000);
    }
    return [$early, \pcntl_wexitstatus($status)];
}, n: 10);

scenario('wait for any of three', function (): array {
    $pids = [];
    foreach ([150, 300, 450] as $n => $delay) {
        $pids[forked(function () use ($delay, $n): int {
            \usleep((is_async() ? $delay : $delay / 3) * 1000);
            return $n;
        })] = $n;
    }
    $order = [];
    while (($pid = \pcntl_wait($status)) > 0) {
        $order[] = [$pids[$pid], \pcntl_wexitstatus($status)];
    }
    \sort($order);
    return [$order, $pid, \pcntl_get_last_error() === PCNTL_ECHILD];
}, waits: 100);

matrix('a child that works and answers through a pair', function (int $i): array {
    [$ours, $theirs] = \stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    $pid = forked(function () use ($theirs, $i): int {
        \usleep(ms(300) * 1000);
        $text = \trim(\shell_exec("echo from a grandchild of $i"));
        \usleep(ms(200) * 1000);
        \fwrite($theirs, "$text\n");
        return 0;
    });
    \fclose($theirs);
    $line = \fgets($ours);
    \pcntl_waitpid($pid, $status);
    return [$line, \pcntl_wexitstatus($status)];
}, n: 8);

scenario('a signal handler while waiting', function (): array {
    \pcntl_async_signals(true);
    $handled = 0;
    \pcntl_signal(SIGUSR1, function () use (&$handled): void {
        $handled++;
    });
    $me = \getmypid();
    $pid = forked(function () use ($me): int {
        \usleep(100_000);
        \posix_kill($me, SIGUSR1);
        \usleep(100_000);
        return 9;
    });
    while (($result = \pcntl_waitpid($pid, $status)) === -1); // EINTR is the handler's doing
    \pcntl_signal(SIGUSR1, SIG_DFL);
    return [$result === $pid, \pcntl_wexitstatus($status), $handled];
}, waits: 50);
