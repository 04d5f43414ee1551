<?php
/*
 * What does the jobs of the queues' workers in queues.php: it writes down what begins and ends, in the folder that the including file
 * names, and does what the name of the job says.
 */

declare(strict_types=1);

return static function (string $body, ?PDO $db = null): void {
    $log = static fn (string $what) => file_put_contents(FOLDER . '/log', "$what " . getmypid() . " $body\n", FILE_APPEND);
    $log('begin');
    $db?->prepare('insert into effects values (?)')->execute([$body]);
    try {
        match (strtok($body, ' ')) {
            'bad' => throw new Exception("$body fails"),
            'fatal' => posix_kill(getmypid(), SIGKILL),
            'hold' => (static function (): void {
                while (!file_exists(FOLDER . '/released')) {
                    clearstatcache();
                    usleep(20_000);
                }
            })(),
            default => usleep(random_int(5_000, 30_000)),
        };
    } catch (Async\CancellationException $e) {
        $log('cancelled');
        throw $e;
    }
    $log('end');
};
