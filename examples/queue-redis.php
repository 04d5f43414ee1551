<?php

/**
 * Works a stream of Redis, 20 jobs at a time. SIGTERM: no new ones, and the end when those that run are done.
 *
 *     REDIS=127.0.0.1:6379 php -d extension=build/spindle.so examples/queue-redis.php HANDLER
 *
 * HANDLER is a file that returns what does a job: fn (string $body): void.
 */

declare(strict_types=1);

use Async\PooledRedis;
use function Async\{delay, group, iterate, signal, spawn};

const AT_ONCE = 20;
const TRIES = 3;
define('LEASE', (int) (getenv('LEASE_MS') ?: 30_000)); // a job of which nothing is heard for so long is anyone's

$handle = require $argv[1];
$stop = signal(SIGTERM);
$me = gethostname() . ':' . getmypid();
[$host, $port] = explode(':', getenv('REDIS') ?: '127.0.0.1:6379');
$redis = new PooledRedis($host, (int) $port, max: 2 * AT_ONCE);
$reader = new Redis(); // a connection of its own, because it waits
$reader->connect($host, (int) $port);
$reader->xGroup('CREATE', 'jobs', 'workers', '0', true); // false if there is one

$jobs = function () use ($reader, $me, $stop): Generator {
    for ($from = '0-0'; !$stop->isCompleted();) {
        [$from, $left] = $reader->rawCommand('XAUTOCLAIM', 'jobs', 'workers', $me, LEASE, $from, 'COUNT', 1)
            ?: throw new RedisException($reader->getLastError());
        foreach ($left as [$id, [, $body]]) { // by a failure, or by a worker that is gone
            yield $id => $body;
        }
        $new = $left ? [] : $reader->xReadGroup('workers', $me, ['jobs' => '>'], 1, 1000);
        foreach ($new['jobs'] ?? [] as $id => ['body' => $body]) {
            yield $id => $body;
        }
    }
};

$run = function (string $body, string $id) use ($redis, $me, $handle): void {
    [[, , , $try]] = $redis->xPending('jobs', 'workers', $id, $id, 1);
    if ($try > TRIES) {
        $redis->multi()->xAdd('jobs.dead', '*', ['body' => $body])->xAck('jobs', 'workers', [$id])->xDel('jobs', [$id])->exec();
        return;
    }
    try {
        with_heartbeat(fn () => $handle($body), function () use ($redis, $me, $id): void {
            $redis->xPending('jobs', 'workers', $id, $id, 1, $me) ?: throw new Exception('another worker has taken it');
            $redis->xClaim('jobs', 'workers', $me, 0, [$id], ['JUSTID']);
        });
        $redis->multi()->xAck('jobs', 'workers', [$id])->xDel('jobs', [$id])->exec();
    } catch (Throwable $e) { // the job stays with us, and is claimed after LEASE
        error_log("job $id, try $try: {$e->getMessage()}");
    }
};

/** Does the work, and meanwhile calls $beat. If that fails, the work is cancelled. */
function with_heartbeat(callable $work, callable $beat): void
{
    group(function () use ($work, $beat): void {
        $heart = spawn(function () use ($beat): void {
            for (;; $beat()) {
                delay(intdiv(LEASE, 3));
            }
        });
        try {
            $work();
        } finally {
            $heart->cancel();
        }
    });
}

iterate($jobs(), $run, concurrency: AT_ONCE);
