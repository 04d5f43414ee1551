<?php

/**
 * Works a table of PostgreSQL, 20 jobs at a time. SIGTERM: no new ones, and the end when those that run are done.
 *
 *     DB_DSN='pgsql:…' php -d extension=build/spindle.so examples/queue-postgres.php HANDLER
 *
 * HANDLER is a file that returns what does a job: fn (string $body, PDO $db): void. What it writes is committed with the job's end.
 *
 *     create table jobs (id bigserial primary key, body text not null, tries int not null default 0, due timestamptz not null default now());
 *     create index on jobs (due);
 */

declare(strict_types=1);

use Async\PooledPDO;
use function Async\{delay, group, iterate, signal, spawn};

const AT_ONCE = 20;
const TRIES = 3;
define('LEASE', (int) (getenv('LEASE_MS') ?: 30_000)); // a job of which nothing is heard for so long is anyone's

$handle = require $argv[1];
$stop = signal(SIGTERM);
$db = new PooledPDO(getenv('DB_DSN'), max: 2 * AT_ONCE);
$reader = new PDO(getenv('DB_DSN')); // a connection of its own, because it waits
$reader->exec('listen jobs');

$jobs = function () use ($reader, $stop): Generator {
    $take = $reader->prepare("update jobs set tries = tries + 1, due = now() + ? * interval '1 ms'
        where id = (select id from jobs where due <= now() order by due limit 1 for update skip locked) returning id, body, tries");
    while (!$stop->isCompleted()) {
        $take->execute([LEASE]);
        if ($job = $take->fetch(PDO::FETCH_OBJ)) {
            yield $job;
        } else {
            $reader->pgsqlGetNotify(PDO::FETCH_ASSOC, 1000);
        }
    }
};

$run = function (object $job) use ($db, $handle): void {
    $change = function (string $sql, mixed ...$values) use ($db, $job): bool {
        $statement = $db->prepare("$sql where id = ? and tries = ?"); // another worker that takes it counts a try
        $statement->execute([...$values, $job->id, $job->tries]);
        return $statement->rowCount() === 1;
    };
    if ($job->tries > TRIES) {
        $change("update jobs set due = 'infinity'");
        return;
    }
    $lost = new Exception('another worker has taken it');
    try {
        with_heartbeat(function () use ($db, $job, $handle, $change, $lost): void {
            $db->beginTransaction();
            $handle($job->body, $db);
            $change('delete from jobs') || throw $lost;
            $db->commit();
        }, fn () => $change("update jobs set due = now() + ? * interval '1 ms'", LEASE) || throw $lost);
    } catch (Throwable $e) {
        error_log("job $job->id, try $job->tries: {$e->getMessage()}");
        try {
            $db->inTransaction() && $db->rollBack();
        } catch (PDOException) { // the connection is lost, and the transaction with it
        }
        $change("update jobs set due = now() + 2 ^ tries * interval '1 s'");
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
