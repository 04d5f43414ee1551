<?php
// needs: postgres mariadb redis ext:pdo_pgsql ext:pgsql ext:pdo_mysql ext:mysqli ext:redis
// After a call was cancelled in the middle of a question, its connection never gives that answer to the next one: it
// says that it is lost, or connects anew.
namespace Matrix;

use Async;

/** The answer, or what was wrong. */
function outcome(callable $call): string
{
    try {
        $answer = @$call();
        return \is_string($answer) || \is_int($answer) ? "answer $answer" : 'refused';
    } catch (\Exception $e) {
        return 'refused';
    }
}

$pg = fn() => \pg_connect(env('SPINDLE_PG_CONNECT'), PGSQL_CONNECT_FORCE_NEW);
$first = fn($result): mixed => $result ? \pg_fetch_result($result, 0, 0) : false;
$kinds = [
    'pg_query' => [$pg, fn($c) => \pg_query($c, "select 'first', pg_sleep(1.5)"), fn($c) => $first(\pg_query($c, "select 'second'"))],
    'pg_query_params' => [$pg, fn($c) => \pg_query_params($c, "select 'first', pg_sleep(1.5) where 1 = $1", [1]), fn($c) => $first(\pg_query_params($c, 'select $1', ['second']))],
    'pg_get_result' => [$pg, fn($c) => [\pg_send_query($c, "select 'first', pg_sleep(1.5)"), \pg_get_result($c)], fn($c) => $first(\pg_query($c, "select 'second'"))],
    'rows of pg_query' => [$pg, fn($c) => \pg_query($c, "select 'first', repeat('x', 100000), pg_sleep(0.01) from generate_series(1, 150)"), fn($c) => $first(\pg_query($c, "select 'second'"))],
    'PDO-pgsql exec' => [pdo_pgsql(...), fn($c) => $c->exec("create temporary table first as select pg_sleep(1.5)::text as t"), fn($c) => $c->exec('create temporary table second as select generate_series(1, 3)') === 3 ? 'second' : false],
    'PDO-pgsql query' => [pdo_pgsql(...), fn($c) => $c->query("select 'first', pg_sleep(1.5)"), fn($c) => $c->query("select 'second'")->fetchColumn()],
    'PDO-mysql query' => [pdo_mysql(...), fn($c) => $c->query("select 'first', sleep(1.5)"), fn($c) => $c->query("select 'second'")->fetchColumn()],
    'mysqli query' => [mysqli(...), fn($c) => $c->query("select 'first', sleep(1.5)"), fn($c) => $c->query("select 'second'")->fetch_row()[0]],
    'phpredis' => [redis(...), fn($c) => $c->rawCommand('BLPOP', unique('none'), '1.5'), fn($c) => $c->echo('second')],
];

foreach ($kinds as $kind => [$connect, $ask, $next]) {
    with_coroutines("$kind: cancelled", function (Check $check) use ($connect, $ask, $next): void {
        $cancel = function (int $later) use ($check, $connect, $ask, $next): void {
            $connection = cut_off($check, $connect, $ask);
            Async\delay($later);
            for ($i = 0; $i < 3; $i++) {
                $outcome = outcome(fn() => $next($connection));
                \in_array($outcome, ['refused', 'answer second'], true) or $check->problem("the next call: $outcome");
            }
        };
        together(2, fn(int $n) => $cancel([0, 2000][$n])); // before its answer has come, and after
        outcome(fn() => $next($connect())) === 'answer second' or $check->problem('a new connection does not work');
    });
}

with_coroutines('waiting for notifications is no question: the connection stays', function (Check $check): void {
    $pdo = pdo_pgsql();
    $channel = unique('channel');
    $pdo->exec("listen $channel");
    $job = Async\spawn(fn() => $pdo->pgsqlGetNotify(\PDO::FETCH_ASSOC, 60_000));
    in_the_middle($job);
    $job->cancel();
    try {
        finished($job);
    } catch (Async\CancellationException) {
    }
    $job = Async\spawn(fn() => $pdo->pgsqlGetNotify(\PDO::FETCH_ASSOC, 60_000));
    in_the_middle($job);
    pdo_pgsql()->exec("notify $channel, 'news'");
    (finished($job)['payload'] ?? null) === 'news' or $check->problem('not notified');
});
