<?php
// needs: postgres mariadb redis ext:pdo_pgsql ext:pdo_mysql ext:redis
// Pooled connections: many coroutines over few, some of which are cancelled in the middle of their calls.
namespace Matrix;

require __DIR__ . '/../lib.php';

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
        check($wrong === 0, "$wrong answers are another one's");
        check($ended >= WORKERS * 9 / 10, "$ended workers have ended");
        check(\count($ids) <= CONNECTIONS + WORKERS / 10, \count($ids) . ' connections were opened: more than were cancelled');
        // One that is cancelled in commit() does not know whether it was committed.
        check($pairs >= $committed && $pairs <= $committed + WORKERS / 10, "$pairs transactions instead of $committed");
        check($db->pool->activeCount() === 0 && \count($db->pool) <= CONNECTIONS, 'a place was lost: ' . \count($db->pool));
        $db->exec("drop table $table");
    });
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
    check($wrong === 0, "$wrong answers are another one's");
    check($ended >= WORKERS * 9 / 10, "$ended workers have ended");
    check($redis->pool->activeCount() === 0 && \count($redis->pool) <= CONNECTIONS, 'a place was lost: ' . \count($redis->pool));
});
