<?php
// needs: postgres redis peer ext:pdo_pgsql ext:redis ext:curl ext:pcntl ext:posix
// limit: 600
// Random cancellations (MATRIX_CANCELS, MATRIX_SEED) at every kind of suspension leave nothing behind.
namespace Matrix;

use Async;

require __DIR__ . '/../kinds.php';

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
    // what a cancelled shell_exec() had started may go on; it is reaped when it ends, by the one that waits for it, from whom a
    // waitpid() here would take it
    $children = static fn(): string => \trim(\implode(' ', \array_map(file_get_contents(...), \glob('/proc/self/task/*/children'))));
    for ($try = 0; $children() !== '' && $try < 3000; $try++) {
        Async\delay(20);
    }
    $children() === '' or $check->problem('child processes are left: ' . $children());
    $check->warnings = [];
});
