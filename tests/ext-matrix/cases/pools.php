<?php
// needs: postgres mariadb redis ext:pdo_pgsql ext:pdo_mysql ext:redis
// Pooled connections: many coroutines over few, some of which are cancelled in the middle of their calls.
namespace Matrix;

use Async;

const WORKERS = 200;
const CONNECTIONS = 5;

function pooled_pdo(string $kind): Async\PooledPDO
{
    $name = $kind === 'pgsql' ? 'SPINDLE_PG' : 'SPINDLE_MYSQL';
    return new Async\PooledPDO(\getenv("{$name}_DSN"), \getenv("{$name}_USER"), \getenv("{$name}_PASSWORD"), max: CONNECTIONS);
}

/** Runs workers, of which every tenth is cancelled when it has waited a few turns. Returns how many have ended. */
function workers(callable $work): int
{
    $all = [];
    for ($i = 0; $i < WORKERS; $i++) {
        $all[$i] = Async\spawn($work, $i);
    }
    $victims = Async\spawn(static function () use ($all): void {
        for ($i = 0; $i < WORKERS; $i += 10) {
            Async\delay(1 + $i % 3);
            $all[$i]->cancel();
        }
    });
    $ended = 0;
    foreach ($all as $one) {
        try {
            Async\await($one);
            $ended++;
        } catch (Async\CancellationException) {
        }
    }
    Async\await($victims);
    return $ended;
}

foreach (['pgsql', 'mysql'] as $kind) {
    with_coroutines("$kind: answers, ids and transactions", static function () use ($kind): void {
        $db = pooled_pdo($kind);
        $table = unique('pool');
        $db->exec("create table $table (id " . ($kind === 'pgsql' ? 'serial primary key' : 'int auto_increment primary key')
            . ', who int)' . ($kind === 'mysql' ? ' engine=innodb' : ''));
        $wrong = 0;
        $committed = 0;
        $ids = [];
        $own = $kind === 'pgsql' ? 'select pg_backend_pid()' : 'select connection_id()';
        $ended = workers(static function (int $i) use ($db, $table, $own, &$wrong, &$committed, &$ids): void {
            $ids[$db->query($own)->fetchColumn()] = true;
            $wrong += (int) ($db->query("select $i")->fetchColumn() != $i);
            $statement = $db->prepare('select ? + 1');
            $statement->execute([$i]);
            $wrong += (int) ($statement->fetchColumn() != $i + 1);
            $statement = null;
            $db->exec("insert into $table (who) values ($i)");
            $id = (int) $db->lastInsertId();
            $wrong += (int) ($db->query("select who from $table where id = $id")->fetchColumn() != $i);
            $ids[$db->query($own)->fetchColumn()] = true;
            $db->beginTransaction();
            $db->exec("insert into $table (who) values (-1)");
            $db->exec("insert into $table (who) values (-1)");
            if ($i % 3 === 1) {
                return; // rolled back
            }
            if ($i % 3 === 2) {
                $db->rollBack();
                return;
            }
            $db->commit();
            $committed++;
        });
        $pairs = (int) $db->query("select count(*) from $table where who = -1")->fetchColumn() / 2;
        expect($wrong === 0, "$wrong answers are another one's");
        expect($ended >= WORKERS * 9 / 10, "$ended workers have ended");
        expect(\count($ids) <= CONNECTIONS + WORKERS / 10, \count($ids) . ' connections were opened: more than were cancelled');
        // One that is cancelled in commit() does not know whether it was committed.
        expect($pairs >= $committed && $pairs <= $committed + WORKERS / 10, "$pairs transactions instead of $committed");
        expect($db->pool->activeCount() === 0 && \count($db->pool) <= CONNECTIONS, 'a place was lost: ' . \count($db->pool));
        $db->exec("drop table $table");
    });
}

foreach (['pgsql', 'mysql'] as $kind) {
    with_coroutines("$kind: a statement whose freeing is cancelled", static function () use ($kind): void {
        $db = pooled_pdo($kind);
        $wrong = 0;
        for ($i = 0; $i < 40; $i++) {
            $is_freed = false;
            $one = Async\spawn(static function () use ($db, $i, &$is_freed): void {
                $statement = $db->prepare('select ? + 0');
                $statement->execute([$i]);
                $statement->fetchAll();
                $is_freed = true;
                $statement = null; // with PostgreSQL a request
            });
            while (!$is_freed) {
                Async\suspend();
            }
            $one->cancel();
            try {
                Async\await($one);
            } catch (Async\CancellationException) {
            }
            foreach ([1, 2, 3] as $more) {
                $wrong += (int) ($db->query("select $i + $more")->fetchColumn() != $i + $more);
            }
        }
        expect($wrong === 0, "$wrong answers are missing or another one's");
        expect($db->pool->activeCount() === 0 && \count($db->pool) <= CONNECTIONS, 'a place was lost: ' . \count($db->pool));
    });

    with_coroutines("$kind: a transaction that cannot be begun", static function () use ($kind): void {
        $name = $kind === 'pgsql' ? 'SPINDLE_PG' : 'SPINDLE_MYSQL';
        $server = [\getenv("{$name}_DSN"), \getenv("{$name}_USER"), \getenv("{$name}_PASSWORD")];
        $admin = new \PDO(...$server);
        $table = unique('begin');
        $admin->exec("create table $table (a int)");
        $id = $kind === 'pgsql' ? 'select pg_backend_pid()' : 'select connection_id()';
        $kill = $kind === 'pgsql' ? 'select pg_terminate_backend(%d)' : 'kill %d';
        $gone = "select count(*) from " . ($kind === 'pgsql' ? 'pg_stat_activity where pid' : 'information_schema.processlist where id') . ' = %d';
        foreach ([\PDO::ERRMODE_EXCEPTION, \PDO::ERRMODE_SILENT] as $mode) {
            foreach (['begin', null] as $by_statement) {
                $db = new Async\PooledPDO(...$server, options: [\PDO::ATTR_ERRMODE => $mode], max: 1, healthcheckInterval: 0);
                $victim = $db->query($id)->fetchColumn();
                $admin->query(\sprintf($kill, $victim));
                while ($admin->query(\sprintf($gone, $victim))->fetchColumn() > 0) {
                    Async\delay(1);
                }
                try {
                    $begun = @($by_statement ? $db->exec($by_statement) : $db->beginTransaction());
                } catch (\PDOException) {
                    $begun = null;
                }
                expect($begun === ($mode === \PDO::ERRMODE_SILENT ? false : null), 'it was begun: ' . \json_encode($begun));
                if ($mode === \PDO::ERRMODE_SILENT) {
                    expect(@$db->exec("insert into $table values (1)") === false, 'a statement has run outside of its transaction');
                    try {
                        expect(!@$db->rollBack(), 'it was rolled back');
                    } catch (\PDOException) {
                    }
                }
                expect($db->exec("insert into $table values (2)") === 1, 'the coroutine has not got another connection');
            }
        }
        expect((int) $admin->query("select sum(a) from $table")->fetchColumn() === 8, 'wrong rows');
        $admin->exec("drop table $table");
    });

    with_coroutines("$kind: a transaction that is begun by a statement and ended by a method", static function () use ($kind): void {
        $db = pooled_pdo($kind);
        foreach (['commit', 'rollBack'] as $end) {
            $db->exec('begin');
            expect($db->pool->activeCount() === 1, 'the transaction has no connection');
            $db->$end();
            expect($db->pool->activeCount() === 0, "$end() keeps the connection");
        }
    });
}

with_coroutines('exit() in the middle of a call on a statement', static function (): void {
    $code = <<<'PHP'
        $statement = null;
        $db = getenv('SPINDLE_POOLED') ? new Async\PooledPDO(getenv('SPINDLE_PG_DSN')) : new PDO(getenv('SPINDLE_PG_DSN'));
        Async\spawn(function () use ($db, &$statement): void {
            $statement = $db->prepare('select pg_sleep(1)');
            $statement->execute();
        });
        while (!$statement) {
            Async\suspend();
        }
        Async\delay(1);
        exit(7);
        PHP;
    $command = [PHP_BINARY];
    foreach (['pdo', 'pdo_pgsql'] as $name) {
        \is_string(\php_ini_loaded_file()) || \array_push($command, '-d', "extension=$name");
    }
    \array_push($command, '-d', 'extension=' . spindle(), '-r', $code);
    foreach (['', '1'] as $pooled) {
        \putenv("SPINDLE_POOLED=$pooled");
        \exec(\implode(' ', \array_map(\escapeshellarg(...), $command)) . ' 2>&1', $lines, $status);
        expect($status === 7, "status $status: " . \implode("\n", $lines));
    }
});

/** Returns the file of this extension. */
function spindle(): string
{
    foreach (\file('/proc/self/maps') as $line) {
        if (\preg_match('~/\S*spindle\S*\.so~', $line, $found)) {
            return $found[0];
        }
    }
    throw new \LogicException('there is no such file');
}

with_coroutines('redis: answers and transactions', static function (): void {
    $redis = new Async\PooledRedis(\getenv('SPINDLE_REDIS_HOST'), (int) \getenv('SPINDLE_REDIS_PORT'), max: CONNECTIONS);
    $key = unique('pool');
    $wrong = 0;
    $ended = workers(static function (int $i) use ($redis, $key, &$wrong): void {
        $redis->set("$key.$i", $i);
        $wrong += (int) ($redis->get("$key.$i") != $i);
        [$set, $got] = $redis->multi()->set("$key.$i", -$i)->get("$key.$i")->exec();
        $wrong += (int) ($got != -$i);
        $redis->watch("$key.$i");
        $redis->multi();
        $redis->incr("$key.$i");
        $i % 2 ? $redis->exec() : $redis->discard();
        $wrong += (int) ($redis->get("$key.$i") != $i % 2 - $i);
        $i % 40 || $redis->blPop(["$key.none.$i"], 1) && $wrong++;
        $redis->del("$key.$i");
    });
    expect($wrong === 0, "$wrong answers are another one's");
    expect($ended >= WORKERS * 9 / 10, "$ended workers have ended");
    expect($redis->pool->activeCount() === 0 && \count($redis->pool) <= CONNECTIONS, 'a place was lost: ' . \count($redis->pool));
});
