<?php
// needs: postgres ext:pdo_pgsql
// Methods that are PDO's only with a certain driver: cancelled, and on a connection that is shared.
namespace Matrix;

use Async;

function with_slow_table(): \PDO
{
    $db = pdo_pgsql();
    $db->exec('create temp table c (n int, slept text default pg_sleep(0.3)::text)');
    $db->exec('listen ' . unique('channel'));
    return $db;
}

$copy = fn(int $lines) => with_slow_table()->pgsqlCopyFromArray('c', \array_fill(0, $lines, '1'), "\t", '\\\\N', 'n');
cancelled('pgsqlCopyFromArray', fn() => $copy(100), fn() => $copy(1));
cancelled('pgsqlGetNotify', fn() => with_slow_table()->pgsqlGetNotify(\PDO::FETCH_NUM, 20_000));

/** $call($db) takes its time; queries of another coroutine on the same connection wait for it and get their answers. */
function shared(string $name, callable $make, callable $call, mixed $answer): void
{
    with_coroutines($name, function (Check $check) use ($make, $call, $answer): void {
        $db = $make();
        $first = Async\spawn(static fn() => $call($db));
        in_the_middle($first);
        $others = [];
        for ($n = 0; $n < 5; $n++) {
            $others[] = Async\spawn(static fn() => $db->query("select $n")->fetchColumn());
        }
        try {
            $answers = \array_map(static fn($coroutine) => Async\await($coroutine, Async\timeout(STUCK)), $others);
            $answers === [0, 1, 2, 3, 4] or $check->problem('the queries got ' . \json_encode($answers));
            $got = Async\await($first, Async\timeout(STUCK));
            $got === $answer or $check->problem('the call got ' . \json_encode($got));
        } catch (Async\AwaitCancelledException) {
            $check->problem('they wait for each other');
        }
        foreach ([$first, ...$others] as $coroutine) {
            $coroutine->cancel();
            try {
                finished($coroutine);
            } catch (\Throwable) {
            }
        }
    });
}

shared('pgsqlCopyFromArray beside queries', with_slow_table(...), fn($db) => $db->pgsqlCopyFromArray('c', ['1'], "\t", '\\\\N', 'n'), true);

// The same as methods of the driver's own class.
$own = ['pgsqlGetNotify' => [pdo_pgsql(...), 'pgsqlGetNotify']];
if (PHP_VERSION_ID >= 80400) {
    $with_slow_table = function (): \Pdo\Pgsql {
        $db = new \Pdo\Pgsql(env('SPINDLE_PG_DSN'));
        $db->exec('create temp table c (n int, slept text default pg_sleep(0.3)::text)');
        return $db;
    };
    cancelled('Pdo\Pgsql::copyFromArray', fn() => $with_slow_table()->copyFromArray('c', \array_fill(0, 100, '1'), "\t", '\\\\N', 'n'), fn() => $with_slow_table()->copyFromArray('c', ['1'], "\t", '\\\\N', 'n'));
    shared('Pdo\Pgsql::copyFromArray beside queries', $with_slow_table, fn($db) => $db->copyFromArray('c', ['1'], "\t", '\\\\N', 'n'), true);
    $own['Pdo\Pgsql::getNotify'] = [$with_slow_table, 'getNotify'];
}
foreach ($own as $name => [$make, $method]) {
    with_coroutines("a connection is in order after a cancelled $name", function (Check $check) use ($make, $method): void {
        $db = $make();
        $waits = Async\spawn(static fn() => $db->$method(\PDO::FETCH_NUM, 20_000));
        in_the_middle($waits);
        $waits->cancel();
        try {
            finished($waits);
            $check->problem('it was not cancelled');
        } catch (Async\CancellationException) {
        }
        $db->query('select 7')->fetchColumn() === 7 or $check->problem('it has another answer');
    });
}
