<?php
// needs: postgres mariadb redis ext:pdo_pgsql ext:pgsql ext:pdo_mysql ext:mysqli ext:redis
// A persistent connection is one coroutine's at a time: each has its own, and they are used again.
namespace Matrix;

use Async;

$persistent = [\PDO::ATTR_PERSISTENT => true];
$kinds = [
    'PDO-pgsql' => [
        fn() => new \PDO(env('SPINDLE_PG_DSN'), null, null, $persistent),
        fn(\PDO $pdo): string => (string) $pdo->query('select pg_backend_pid() from (select pg_sleep(0.1)) s')->fetchColumn(),
    ],
    'PDO-mysql' => [
        fn() => pdo_mysql($persistent),
        fn(\PDO $pdo): string => (string) $pdo->query('select connection_id() + sleep(0.1)')->fetchColumn(),
    ],
    'pg_pconnect' => [
        fn() => \pg_pconnect(env('SPINDLE_PG_CONNECT')),
        fn(\PgSql\Connection $pg): string => (string) \pg_fetch_result(\pg_query($pg, 'select pg_backend_pid() from (select pg_sleep(0.1)) s'), 0, 0),
    ],
    'mysqli' => [
        fn() => new \mysqli('p:' . env('SPINDLE_MYSQL_HOST'), env('SPINDLE_MYSQL_USER'), env('SPINDLE_MYSQL_PASSWORD'), env('SPINDLE_MYSQL_DB'), (int) env('SPINDLE_MYSQL_PORT')),
        fn(\mysqli $mysqli): string => (string) $mysqli->query('select connection_id() + sleep(0.1)')->fetch_row()[0],
    ],
    'phpredis' => [
        function (): \Redis {
            $redis = new \Redis();
            $redis->pconnect(env('SPINDLE_REDIS_HOST'), (int) env('SPINDLE_REDIS_PORT'));
            return $redis;
        },
        function (\Redis $redis): string {
            $redis->rawCommand('BLPOP', unique('nobody'), '0.1');
            return (string) $redis->rawCommand('CLIENT', 'ID');
        },
    ],
];

if (PHP_VERSION_ID >= 80400) {
    $kinds['PDO::connect'] = [fn() => \PDO::connect(env('SPINDLE_PG_DSN'), null, null, $persistent), $kinds['PDO-pgsql'][1]];
}

foreach ($kinds as $kind => [$connect, $who]) {
    with_coroutines("$kind: each coroutine has a connection, round after round the same ones", function (Check $check) use ($kind, $connect, $who): void {
        $seen = [];
        $most = 0;
        for ($round = 0; $round < 3; $round++) {
            $jobs = [];
            for ($i = 0; $i < 5; $i++) {
                $jobs[] = Async\spawn(fn() => $who($connect()));
            }
            do {
                Async\delay(1);
                // who waits for a server, and not for another one's call
                $waiting = \array_filter($jobs, fn($job) => !\in_array($job->getAwaitingInfo()['call'] ?? 'locked handle', ['locked handle', 'delay']));
                $most = \max($most, \count($waiting));
            } while (\array_filter($jobs, fn($job) => !$job->isCompleted()));
            $ids = \array_map(finished(...), $jobs);
            unset($jobs, $waiting);
            \count(\array_unique($ids)) === 5 or $check->problem('shared: ' . \implode(' ', $ids));
            $seen = [...$seen, ...$ids];
        }
        $most > 1 or $check->problem('one after another');
        // ext/pgsql keeps the last one as the default of calls that name none
        \count(\array_unique($seen)) <= ($kind === 'pg_pconnect' ? 6 : 5) or $check->problem('new ones each round: ' . \implode(' ', $seen));
    });
}

with_coroutines('a transaction on a persistent connection is its coroutine\'s', function (Check $check) use ($persistent): void {
    $table = unique('ledger');
    pdo_pgsql()->exec("create table $table (n int)");
    $write = function (int $n) use ($table, $persistent): void {
        $pdo = new \PDO(env('SPINDLE_PG_DSN'), null, null, $persistent);
        $pdo->beginTransaction();
        $pdo->exec("insert into $table values ($n)");
        $pdo->query('select pg_sleep(0.02)');
        $same = new \PDO(env('SPINDLE_PG_DSN'), null, null, $persistent); // as without coroutines: this very connection
        (string) $same->query("select count(*) from $table where n = $n")->fetchColumn() === '1' or throw new \LogicException('asked twice, got two');
        $n % 2 === 0 ? $pdo->commit() : $pdo->rollBack();
    };
    $jobs = [];
    for ($n = 0; $n < 8; $n++) {
        $jobs[] = Async\spawn($write, $n);
    }
    \array_map(finished(...), $jobs);
    $there = \implode(',', pdo_pgsql()->query("select n from $table order by n")->fetchAll(\PDO::FETCH_COLUMN));
    $there === '0,2,4,6' or $check->problem("there is $there");
    pdo_pgsql()->exec("drop table $table");
});

with_coroutines('a handle that outlives its coroutine keeps its connection', function (Check $check) use ($persistent): void {
    $connect = fn() => new \PDO(env('SPINDLE_PG_DSN'), null, null, $persistent);
    $kept = finished(Async\spawn($connect));
    $pid = fn(\PDO $pdo): string => (string) $pdo->query('select pg_backend_pid()')->fetchColumn();
    $mine = $pid($kept);
    finished(Async\spawn(fn() => $pid($connect()))) !== $mine or $check->problem('it was given to another coroutine');
    $kept = null;
    finished(Async\spawn(fn() => $pid($connect()))) === $mine or $check->problem('it was not used again');
});

with_coroutines('the same connection, asked for in other words', function (Check $check): void {
    $ask = static function (int $flags, string $word): array {
        $db = \pg_pconnect(env('SPINDLE_PG_CONNECT'), $flags);
        return \pg_fetch_row(\pg_query($db, "select pg_backend_pid(), '$word' from (select pg_sleep(0.1)) s"));
    };
    $all = [Async\spawn($ask, 0, 'one'), Async\spawn($ask, PGSQL_CONNECT_FORCE_NEW, 'two'), Async\spawn($ask, 0, 'three')];
    [$numbers, $words] = [[], []];
    foreach ($all as $coroutine) {
        [$numbers[], $words[]] = finished($coroutine);
    }
    if ($words !== ['one', 'two', 'three'] || \count(\array_unique($numbers)) !== 3) {
        $check->problem('answers ' . \json_encode($words) . ' of the connections ' . \json_encode($numbers));
    }
});
