<?php

/** Connections that each request makes by itself, as code without a library does: in transactions at the same time, in worker and application mode. */

namespace Orms;

use Async\Http\Server;

use function Async\await;
use function Async\spawn;

/** Connects, and returns a function that makes a query of the connection, without saying which where there is a default one. */
function connected(): \Closure
{
    [$host, $port, $user, $password, $name] = server();
    if (KIND === 'pgsql') {
        pg_connect("host=$host port=$port user=$user password='$password' dbname=$name");
        return static fn (string $query) => @pg_fetch_result(@pg_query($query), 0, 0);
    }
    $link = mysqli_connect($host, $user, $password, $name, (int) $port);
    return static fn (string $query) => is_bool($result = mysqli_query($link, $query)) ? $result : $result->fetch_row()[0];
}

/** Handles a request: stores an order in a transaction, and commits it or not. */
function order(string $how): string
{
    $query = connected();
    $number = $query(NUMBER_OF_CONNECTION[KIND]);
    $query('begin');
    $query("insert into own_orders values ('$how')");
    usleep(random_int(0, 20_000));
    $seen = $query("select count(*) from own_orders where how = 'rolled back'");
    $query2 = connected(); // once more, in the middle
    usleep(random_int(0, 20_000));
    $again = $query(NUMBER_OF_CONNECTION[KIND]) === $number && (KIND === 'mysql' || $query2(NUMBER_OF_CONNECTION[KIND]) === $number);
    match ($how) {
        'committed' => $query('commit'),
        'rolled back' => $query('rollback'),
        'left open' => null,
    };
    return $how . ' ' . ((int) $seen - ($how === 'rolled back' ? 1 : 0)) . ' ' . ($again ? 'same' : 'another') . ' ' . $number;
}

$watcher = watcher();
$watcher->exec('drop table if exists own_orders');
$watcher->exec('create table own_orders (how varchar(20))');
$modes = [
    'worker' => static fn (Server $server) => $server->worker(static function (): void { echo order(strtr(ltrim($_SERVER['REQUEST_URI'], '/'), '-', ' ')); }),
    'application' => static fn (Server $server) => $server->application(static fn () => static function (): void { echo order(strtr(ltrim($_SERVER['REQUEST_URI'], '/'), '-', ' ')); }, instances: 8),
];
foreach ($modes as $mode => $serves) {
    $server = $serves((new Server())->listen('127.0.0.1:0'));
    $runs = spawn($server->run(...));
    $before = connections();
    $numbers = [];
    for ($round = 0; $round < 5; $round++) {
        $requests = [];
        foreach (['committed', 'rolled-back', 'left-open', 'committed', 'rolled-back', 'committed', 'left-open', 'rolled-back'] as $how) {
            $requests[] = spawn(file_get_contents(...), "http://{$server->address()}/$how");
        }
        foreach ($requests as $request) {
            preg_match('~^(.+) (\d+)$~', await($request), $found);
            same(true, in_array($found[1], ['committed 0 same', 'rolled back 0 same', 'left open 0 same'], true) ?: $found, "$mode, a request");
            $numbers[] = $found[2];
        }
    }
    // As with php-fpm, what a request has connected with ends with it, and what it has left open is rolled back.
    same(count($numbers), count(array_unique($numbers)), "$mode, connections for each request");
    for ($end = hrtime(true) + 30e9; connections() > $before && hrtime(true) < $end; usleep(1000));
    same($before, connections(), "$mode, connections that are left");
    same(3 * 5, (int) $watcher->query("select count(*) from own_orders where how = 'committed'")->fetchColumn(), "$mode, committed");
    same(3 * 5, (int) $watcher->query('select count(*) from own_orders')->fetchColumn(), "$mode, all");
    $watcher->exec('delete from own_orders');
    $server->stop();
    await($runs);
}

// Coroutines that use the connection which is not named take turns, as those do that name it.
if (KIND === 'pgsql') {
    $query = connected();
    foreach (range(1, 4) as $n) {
        $coroutines[] = spawn($query, "select $n from pg_sleep(0.01)");
    }
    same(['1', '2', '3', '4'], array_map(await(...), $coroutines), 'one connection, several coroutines');
    [$host, $port, $user, $password, $name] = server();
    $link = pg_connect("host=$host port=$port user=$user password='$password' dbname=$name");
    $named = spawn(static fn () => pg_fetch_result(pg_query($link, 'select 5 from pg_sleep(0.01)'), 0, 0));
    $other = spawn($query, 'select 6');
    same(['5', '6'], [await($named), await($other)], 'named, and not');
    // While it waits, others connect.
    $watcher->exec('select pg_advisory_lock(7)');
    $waits = spawn($query, 'select pg_advisory_lock(7) is null');
    $free = \Async\withTimeout(30_000, static fn () => pg_fetch_result(pg_query(pg_connect("host=$host port=$port user=$user password='$password' dbname=$name", PGSQL_CONNECT_FORCE_NEW), 'select 7'), 0, 0));
    same(['7', false], [$free, $waits->isCompleted()], 'beside a call that waits');
    $watcher->exec('select pg_advisory_unlock(7)');
    await($waits);
}
