<?php
// needs: postgres redis peer ext:pdo_pgsql ext:redis ext:curl ext:pcntl ext:posix
// limit: 600
// Random cancellations (MATRIX_CANCELS, MATRIX_SEED) at every kind of suspension leave nothing behind.
namespace Matrix;

use Async;

require __DIR__ . '/../lib.php';

/** Every kind of suspension; each would last for a while. */
function kinds(): array
{
    $lock = scratch('lock');
    $owner = \fopen($lock, 'c');
    \flock($owner, LOCK_EX);
    $never = Async\spawn(fn() => Async\delay(3_600_000));
    $kinds = [
        'delay' => fn() => Async\delay(1000),
        'suspend' => function (): void {
            while (true) {
                Async\suspend();
            }
        },
        'await' => fn() => Async\await($never),
        'await with a token' => fn() => Async\await($never, Async\timeout(60_000)),
        'usleep' => fn() => \usleep(1_000_000),
        'sleep' => fn() => \sleep(1),
        'fread' => function (): void {
            [$a, $b] = \stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
            \fread($a, 100);
        },
        'fwrite' => function (): void {
            [$a, $b] = \stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
            \fwrite($a, \str_repeat('x', 1_000_000));
        },
        'stream_select' => function (): void {
            $read = \stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
            $write = $except = null;
            \stream_select($read, $write, $except, 1);
        },
        'accept' => fn() => @\stream_socket_accept(\stream_socket_server('tcp://127.0.0.1:0'), 1),
        'blPop' => fn() => redis()->rawCommand('BLPOP', 'stress_empty', '1'),
        'pg_sleep' => fn() => pdo_pgsql()->query('select pg_sleep(0.2)'),
        'curl' => fn() => \curl_exec(curl(http('/1000/late'))),
        'https' => fn() => \curl_exec(curl(https('/1000/late'))),
        'file_get_contents' => fn() => @\file_get_contents(http('/1000/late')),
        'flock' => fn() => \flock(\fopen($lock, 'c'), LOCK_EX),
        'shell_exec' => fn() => \shell_exec('sleep 0.05'),
        'proc_close' => fn() => \proc_close(\proc_open(['sleep', '0.05'], [['pipe', 'r'], ['pipe', 'w']], $pipes)),
        'read from a process' => function (): void {
            $process = \proc_open(['sleep', '0.05'], [1 => ['pipe', 'w']], $pipes);
            \stream_get_contents($pipes[1]);
        },
        'gethostbyname' => fn() => \gethostbyname('localhost'),
        'file' => fn() => \file_put_contents($lock . '.data', 'x', FILE_APPEND) + \strlen(\file_get_contents(__FILE__)),
        'cleanup that blocks' => function (): void {
            try {
                \usleep(1_000_000);
            } finally {
                \usleep(2000);
            }
        },
        'a swallowed cancellation' => function (): void {
            try {
                Async\delay(1000);
            } catch (Async\CancellationException) {
                \usleep(1000);
            }
        },
    ];
    return [$kinds, $never, $owner];
}

with_coroutines('cancellations', function (Check $check): void {
    $total = (int) (\getenv('MATRIX_CANCELS') ?: 2000);
    $seed = (int) (\getenv('MATRIX_SEED') ?: \random_int(1, 1_000_000));
    \mt_srand($seed);
    $check->facts['seed'] = $seed;
    \fwrite(STDERR, "MATRIX_SEED=$seed\n");
    [$kinds, $never, $owner] = kinds();
    $names = \array_keys($kinds);

    $batch = function (int $size) use ($kinds, $names, $check): array {
        $coroutines = [];
        for ($n = 0; $n < $size; $n++) {
            $kind = $names[\mt_rand(0, \count($names) - 1)];
            $coroutines[] = [$kind, Async\spawn($kinds[$kind])];
        }
        \shuffle($coroutines);
        $seen = ['cancelled' => 0, 'finished' => 0];
        foreach ($coroutines as [$kind, $coroutine]) {
            match (\mt_rand(0, 3)) {
                0 => Async\delay(\mt_rand(0, 3)),
                1 => Async\suspend(),
                default => null,
            };
            $coroutine->cancel();
        }
        foreach ($coroutines as [$kind, $coroutine]) {
            try {
                finished($coroutine);
                $seen['finished']++; // it was faster, or it swallows
            } catch (Async\CancellationException) {
                $seen['cancelled']++;
            } catch (\Throwable $e) {
                $check->problem("$kind: " . describe($e));
            }
        }
        return $seen;
    };

    $batch(100); // what is made once is there now
    \gc_collect_cycles();
    $open = open_descriptors();
    $memory = [\memory_get_usage()];
    $seen = ['cancelled' => 0, 'finished' => 0];
    foreach ([1, 2] as $half) {
        for ($done = 0; $done < $total / 2; $done += $size) {
            $size = (int) \min(\mt_rand(1, 60), $total / 2 - $done);
            foreach ($batch($size) as $what => $count) {
                $seen[$what] += $count;
            }
        }
        $check->warnings = [];
        \gc_collect_cycles();
        $memory[] = \memory_get_usage();
    }
    $check->facts += $seen + ['bytes grown in the halves' => ($memory[1] - $memory[0]) . ' and ' . ($memory[2] - $memory[1])];

    $seen['cancelled'] > $total / 2 or $check->problem("only {$seen['cancelled']} of $total were cancelled");
    $memory[2] - $memory[1] < 65_536 or $check->problem('memory grew by ' . ($memory[2] - $memory[1]) . ' bytes in the second half');
    no_descriptor_left($check, $open);

    $never->cancel();
    try {
        finished($never);
    } catch (Async\CancellationException) {
    }
    unset($never, $kinds, $batch);
    Async\suspend();

    // the check itself is the main coroutine
    $live = \count(Async\getCoroutines());
    $live === 1 or $check->problem("$live coroutines are left");
    // what a cancelled shell_exec() had started may go on for its 50 ms; it is reaped when it ends
    $start = \hrtime(true);
    do {
        Async\delay(20);
        $waited = \pcntl_waitpid(-1, $status, WNOHANG);
    } while ($waited === 0 && \hrtime(true) - $start < 5e9);
    $waited === -1 && \pcntl_get_last_error() === PCNTL_ECHILD or $check->problem("a child process is left: waitpid gave $waited");
    $children = \trim(\implode(' ', \array_map(file_get_contents(...), \glob('/proc/self/task/*/children'))));
    $children === '' or $check->problem("child processes are left: $children");
    $check->warnings = [];
});
