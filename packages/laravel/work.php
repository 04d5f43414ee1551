<?php

declare(strict_types=1);

/**
 * Works the queues of the application with many workers in one process, as `php artisan spindle:work` does, which is replaced by
 * this. It has the arguments of `queue:work`, and `--concurrency=N`; `--folder=DIR` names the application's folder.
 */

$own = ['concurrency' => '20', 'folder' => null, 'memory' => null, 'max-jobs' => '0'];
$arguments = [];
foreach (array_slice($_SERVER['argv'], 1) as $argument) {
    if (preg_match('/^--(' . implode('|', array_keys($own)) . ')=(.*)$/s', $argument, $found)) {
        $own[$found[1]] = $found[2];
    } else {
        $arguments[] = $argument;
    }
}
// As many as there are would each take a job.
$workers = in_array('--once', $arguments, true) ? 1 : max(1, (int) $own['concurrency']);
// The limit is the process's, so with queue:work's, which is 128, a few applications would exceed it.
$arguments[] = '--memory=' . ($own['memory'] ?? 128 + 32 * $workers);
$folder = (require __DIR__ . '/folder.php')($own['folder']);
chdir($folder);

exit((new Spindle\Laravel\Queue\Group($folder, $arguments, (int) $own['max-jobs']))->run($workers));
