<?php
// needs: postgres ext:pdo_pgsql
// Coroutines that ask for one persistent connection take turns on it.
namespace Matrix;

use Async;

require __DIR__ . '/../lib.php';

with_coroutines('a persistent connection is used by one at a time', function (Check $check): void {
    $backends = [];
    for ($i = 0; $i < 5; $i++) {
        $backends[] = Async\spawn(fn() => (new \PDO(env('SPINDLE_PG_DSN'), null, null, [\PDO::ATTR_PERSISTENT => true]))
            ->query('select pg_backend_pid() from (select pg_sleep(0.2)) s')->fetchColumn());
    }
    $start = \hrtime(true);
    $distinct = \count(\array_unique(\array_map(finished(...), $backends)));
    $wall = (\hrtime(true) - $start) / 1e9;
    // fewer connections than coroutines are right when the coroutines took turns
    $wall >= 0.19 * 5 / $distinct or $check->problem(\sprintf('5 coroutines used %d connections in %.2f s', $distinct, $wall));
});
