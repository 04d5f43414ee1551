<?php

/**
 * The jobs of the coroutines: transactions that are committed, fail, are nested, are cancelled in the middle, or left open. What is in
 * the table at the end is what PHP without coroutines would have written.
 */

declare(strict_types=1);

namespace Orms;

use Async\Channel;
use Async\Http\Server;

use function Async\await;
use function Async\awaitAll;
use function Async\delay;
use function Async\spawn;

const ROUNDS = 3;

/** What a library's connection does, for the jobs. */
interface Library
{
    /** Calls the body in a transaction, also within another one. */
    public function transaction(\Closure $body): mixed;

    public function begin(): void;

    public function rollBack(): void;

    public function insert(int $n): void;

    /** Returns how many rows there are with a number. */
    public function count(int $n): int;

    /** Returns how deep the running coroutine is in transactions. */
    public function level(): int;
}

/** Does what coroutine $n does in a round. */
function job(Library $db, int $n, int $round): void
{
    $cancel = new Channel(1);
    same(0, $db->level(), 'level at first');
    switch ($n % 5) {
        case 0:
            $db->transaction(function () use ($db, $n, $round) {
                $db->insert($n);
                delay(random_int(0, 3));
                same([1, $round + 1], [$db->level(), $db->count($n)], 'level, and own row');
                same(0, $db->count($n + 1) + $db->count($n - 1), 'rows of others that are rolled back');
            });
            break;
        case 1:
            try {
                $db->transaction(function () use ($db, $n) {
                    $db->insert($n);
                    delay(random_int(0, 3));
                    throw new \DomainException('rolled back');
                });
            } catch (\DomainException) {
            }
            break;
        case 2:
            $db->transaction(function () use ($db, $n) {
                $db->insert($n);
                try {
                    $db->transaction(function () use ($db, $n) {
                        delay(random_int(0, 3));
                        same(2, $db->level(), 'level of a nested transaction');
                        $db->insert($n + 1000);
                        throw new \DomainException('back to the savepoint');
                    });
                } catch (\DomainException) {
                }
                delay(random_int(0, 3));
                $db->transaction(fn () => $db->insert($n + 2000));
            });
            break;
        case 3:
            $lost = spawn(fn () => $db->transaction(function () use ($db, $n, $cancel) {
                $db->insert($n);
                $cancel->send($n);
                delay(60_000);
            }));
            $cancel->recv();
            $lost->cancel();
            try {
                await($lost);
            } catch (\Async\AsyncCancellation) {
            }
            break;
        case 4:
            await(spawn(function () use ($db, $n) {
                $db->begin();
                $db->insert($n);
                delay(random_int(0, 3));
                $db->begin();
                $db->insert($n + 1000);
            }));
            same(0, $db->count($n), 'rows of a transaction that was left open');
            break;
    }
    same(0, $db->level(), 'level at last');
}

/** What must be in the table: number => how often. */
function expected(int $jobs): array
{
    $rows = [];
    for ($n = 0; $n < $jobs; $n++) {
        $rows += match ($n % 5) {
            0 => [$n => ROUNDS],
            2 => [$n => ROUNDS, $n + 2000 => ROUNDS],
            default => [],
        };
    }
    ksort($rows);
    return $rows;
}

function createTable(\PDO $watcher): void
{
    $watcher->exec('drop table if exists done');
    $watcher->exec('create table done (n int not null)' . (KIND === 'mysql' ? ' engine=innodb' : ''));
}

/** Runs all jobs, watches the connections, and compares. */
function run(int $jobs, \Closure $start, ?\Closure $create = null): void
{
    $watcher = watcher();
    $create === null ? createTable($watcher) : $create();
    $most = 0;
    $isOver = false;
    $watch = spawn(function () use (&$most, &$isOver) {
        while (!$isOver) {
            $most = max($most, connections() - 1); // the watcher's
            delay(1);
        }
    });
    awaitAll(array_map($start, range(0, $jobs - 1)));
    // Whoever watches may not have run meanwhile on a busy machine. The pool keeps those that it has opened.
    $most = max($most, connections() - 1);
    $isOver = true;
    await($watch);
    $rows = $watcher->query('select n, count(*) from done group by n order by n')->fetchAll(\PDO::FETCH_KEY_PAIR);
    same(expected($jobs), array_map(intval(...), $rows), 'rows');
    same(true, $most >= 2 && $most <= MAX, "connections at once, of which there were $most");
}

/** One object for 40 coroutines. */
function inCoroutines(\Closure $open): void
{
    $db = $open();
    run(40, static fn (int $n) => spawn(static function () use ($db, $n) {
        for ($round = 0; $round < ROUNDS; $round++) {
            job($db, $n, $round);
        }
    }));
}

/** An object for each of 16 instances, each of which has two coroutines. */
function inInstances(\Closure $open): void
{
    run(16, static fn (int $n) => \Async\spawnInstance(static function () use ($open, $n) {
        $db = $open();
        for ($round = 0; $round < ROUNDS; $round++) {
            await(spawn(static fn () => job($db, $n, $round)));
        }
    }));
}

/** 16 instances of an application, each of which ends after some requests. All requests are asked at once. */
function inApplication(\Closure $open): void
{
    $server = (new Server(['instance_requests' => 5]))->listen('127.0.0.1:0')->application(static function () use ($open): \Closure {
        $db = $open();
        return static function () use ($db): void {
            job($db, (int) $_GET['n'], (int) $_GET['round']);
            echo 'done';
        };
    }, instances: 16);
    $running = spawn($server->run(...));
    run(40, static fn (int $n) => spawn(static function () use ($server, $n) {
        for ($round = 0; $round < ROUNDS; $round++) {
            same('done', file_get_contents("http://{$server->address()}/?n=$n&round=$round"), 'answer');
        }
    }));
    $server->stop();
    await($running);
}
