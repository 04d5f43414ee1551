<?php
// needs: mariadb ext:mysqlnd ext:mysqli
// A pooled mysqli: many coroutines over few connections, which are lost and whose calls are cancelled; what a coroutine leaves on its
// connection; properties, statements, results and functions.
namespace Matrix;

use Async;
use Async\PooledMysqli;

\mysqli_report(MYSQLI_REPORT_ERROR | MYSQLI_REPORT_STRICT);

/** @return array{string, string, string, string, int} */
function server(): array
{
    $value = static fn(string $name): string => \getenv("SPINDLE_MYSQL_$name");
    return [$value('HOST'), $value('USER'), $value('PASSWORD'), $value('DB'), (int) $value('PORT')];
}

function pooled(int $max, mixed ...$more): PooledMysqli
{
    return new PooledMysqli(...[...server(), 'max' => $max, ...$more]);
}

/** Returns the first value of a result. */
function value(\mysqli $db, string $sql): mixed
{
    return $db->query($sql)->fetch_row()[0];
}

/** Returns the class and the message of what a call throws, or its result. */
function outcome(callable $call): mixed
{
    try {
        return $call();
    } catch (\Throwable $e) {
        return $e::class . ': ' . $e->getMessage();
    }
}

/** Runs a body in a coroutine, and returns its result. */
function apart(callable $body): mixed
{
    return Async\await(Async\spawn($body));
}

/** Counts what is wrong if coroutines transfer money, and use statements and properties. $disturb may end connections or coroutines. */
function transfers(int $coroutines, callable $disturb): void
{
    $db = pooled(10);
    $table = unique('money');
    $db->query("create table $table (id int primary key, amount int not null) engine=innodb");
    $db->query("create table {$table}_log (id int auto_increment primary key, who int not null, amount int not null) engine=innodb");
    for ($i = 0; $i < 20; $i++) {
        $db->query("insert into $table values ($i, 1000)");
    }
    $wrong = [];
    $work = static function (int $i) use ($db, $table, &$wrong): int {
        $check = static function (bool $is_right, string $what) use (&$wrong, $i): void {
            $is_right || $wrong[] = "$i: $what";
        };
        for ($attempt = 0; $attempt < 200; $attempt++) {
            try {
                $check(value($db, "select $i") == $i, 'another one\'s answer');
                $statement = $db->prepare('select ?, connection_id()');
                $statement->bind_param('i', $i);
                $statement->execute();
                [$answer, $id] = $statement->get_result()->fetch_row();
                $check($answer === $i, 'another one\'s answer to a statement');
                $check($db->thread_id === $id, 'another connection\'s id');
                $GLOBALS['threads'][$id] = $id;
                unset($statement);
                $result = $db->query("select seq + $i from seq_1_to_50", MYSQLI_USE_RESULT);
                $sum = 0;
                while ($row = $result->fetch_row()) {
                    $sum += (int) $row[0];
                    $row[0] % 10 || Async\suspend();
                }
                $check($sum === 1275 + 50 * $i, 'another one\'s rows');
                unset($result);
                $db->begin_transaction();
                [$from, $to] = [$i % 20, ($i * 7 + 3) % 20];
                foreach ($from < $to ? [$from, $to] : [$to, $from] as $account) {
                    $db->query("update $table set amount = amount + " . ($account === $from ? -$i : $i) . " where id = $account");
                }
                $from === $to && $db->query("update $table set amount = amount + $i where id = $from");
                $db->query("insert into {$table}_log (who, amount) values ($i, $i)");
                $own = $db->insert_id;
                $check($db->affected_rows === 1, 'another one\'s affected_rows');
                $check(value($db, "select who from {$table}_log where id = $own") == $i, 'another one\'s insert_id');
                $check($db->query("select count(*) from {$table}_log where who = $i")->fetch_row()[0] == 1, 'rows of others');
                $db->commit();
                return 1;
            } catch (\mysqli_sql_exception) {
                unset($statement, $result);
                try {
                    $db->rollback();
                } catch (\mysqli_sql_exception) {
                }
                if (committed($db, "{$table}_log", $i)) {
                    return 1; // the connection was lost after the server had committed
                }
            }
        }
        $wrong[] = "$i has given up";
        return 0;
    };
    $all = \array_map(static fn(int $i): Async\Coroutine => Async\spawn($work, $i), \range(1, $coroutines));
    $disturbance = Async\spawn($disturb, $all);
    $made = $cancelled = 0;
    foreach ($all as $one) {
        try {
            $made += Async\await($one);
        } catch (Async\CancellationException) {
            $cancelled++;
        }
    }
    Async\await($disturbance);
    $plain = new \mysqli(...server());
    expect($wrong === [], \implode("\n", \array_slice($wrong, 0, 5)));
    expect($made + $cancelled === $coroutines, "$made have ended, $cancelled are cancelled");
    expect((int) value($plain, "select sum(amount) from $table") === 20000, 'money was made or lost');
    $logged = (int) value($plain, "select count(*) from {$table}_log");
    expect($logged >= $made && $logged <= $coroutines, "$logged transfers instead of $made");
    expect((int) value($plain, "select count(distinct who) from {$table}_log") === $logged, 'a transfer was made twice');
    expect($db->pool->activeCount() === 0 && \count($db->pool) <= 10, 'a place was lost: ' . $db->pool->activeCount() . ' of ' . \count($db->pool));
    $answers = \array_map(static fn(int $i): Async\Coroutine => Async\spawn(static fn() => committed($db, "{$table}_log", 0)), \range(1, 20));
    expect(Async\awaitAll($answers) === \array_fill(0, 20, false), 'the pool does not serve after it');
    $plain->query("drop table $table, {$table}_log");
}

/** Asks until a connection answers: one that was ended while nobody used it gives its next user an error. */
function committed(\mysqli $db, string $log, int $who): bool
{
    for ($attempt = 0; ; $attempt++) {
        try {
            return value($db, "select count(*) from $log where who = $who") > 0;
        } catch (\mysqli_sql_exception $e) {
            $attempt < 200 || throw $e;
        }
    }
}

with_coroutines('250 coroutines over 10 connections', static fn() => transfers(250, static fn() => null));

with_coroutines('connections are killed', static fn() => transfers(250, static function (array $all): void {
    $admin = new \mysqli(...server());
    $killed = 0;
    foreach ($all as $i => $one) {
        if ($i % 20 === 0) { // by the transfers' progress, however fast they are
            Async\await($one);
            $own = 'id in (' . \implode(', ', $GLOBALS['threads'] ?? [0]) . ')'; // other cases have connections, too
            $victim = value($admin, "select max(id) from (select id from information_schema.processlist where $own order by rand() limit 1) one");
            $killed += (int) ($victim && outcome(static fn() => $admin->query("kill $victim")) === true);
        }
    }
    expect($killed > 5, "$killed connections were killed");
}));

with_coroutines('coroutines are cancelled', static fn() => transfers(250, static function (array $all): void {
    foreach ($all as $i => $one) {
        $i % 5 || $one->cancel();
        Async\delay(1);
    }
}));

with_coroutines('a statement is freed at the end of a cancelled coroutine, where its extension warns', static function (): void {
    for ($i = 0; $i < 5; $i++) {
        $is_running = false;
        $one = Async\spawn(static function () use (&$is_running): void {
            $db = new \mysqli(...server());
            $statement = $db->prepare('select sleep(10)');
            $is_running = true;
            $statement->execute();
        });
        while (!$is_running) {
            Async\suspend();
        }
        $one->cancel();
        expect(\str_starts_with((string) outcome(static fn() => Async\await($one)), 'Async\CancellationException'), 'it was not cancelled');
    }
});

$leak = unique('leak');
with_coroutines('states of a connection', static function () use ($leak): void {
    $db = pooled(1);
    $plain = new \mysqli(...server());
    $plain->query("create table {$leak}_t (a int) engine=innodb");
    $states = [
        'a variable' => [static fn() => $db->query('set @leak = 1'), 'select @leak is null'],
        'of a statement' => [static fn() => $db->prepare('set @leak = 1')->execute(), 'select @leak is null'],
        'of a statement with another text' => [static function () use ($db): void {
            $statement = $db->prepare('select 1');
            $statement->prepare('set @leak = 1');
            $statement->execute();
        }, 'select @leak is null'],
        'by functions' => [static function () use ($db): void {
            $statement = \mysqli_stmt_init($db);
            \mysqli_stmt_prepare($statement, 'set @leak = 1');
            \mysqli_stmt_execute($statement);
        }, 'select @leak is null'],
        'of execute_query()' => [static fn() => $db->execute_query('set @leak = ?', [1]), 'select @leak is null'],
        'a lock' => [static fn() => \mysqli_query($db, "select get_lock('$leak', 0)"), "select coalesce(is_used_lock('$leak') <> connection_id(), 1)"],
        'locked tables' => [static fn() => $db->query("lock tables {$leak}_t read"), "insert into {$leak}_t values (1) returning 1"],
        'a temporary table' => [static fn() => $db->real_query("create temporary table temp_$leak (a int)"),
            "select count(*) = 0 from information_schema.tables where table_name = 'temp_$leak'"],
        'results that were not read' => [static fn() => $db->multi_query('select 1; select 2; set @leak = 1'), 'select @leak is null'],
        'one result that was not read' => [static fn() => $db->real_query('select 2'), 'select 1'],
        'an unbuffered one' => [static fn() => $db->query('select seq from seq_1_to_100000', MYSQLI_USE_RESULT)->fetch_row(), 'select 1'],
        'another database' => [static fn() => $db->select_db('information_schema'), "select database() <> 'information_schema'"],
        'another user' => [static fn() => $db->change_user(server()[1], server()[2], 'information_schema'), "select database() <> 'information_schema'"],
        'no autocommit' => [static fn() => $db->autocommit(false), 'select @@autocommit'],
        'a transaction' => [static function () use ($db, $leak): void {
            $db->begin_transaction();
            $db->query("insert into {$leak}_t values (2)");
        }, "select count(*) = 0 from {$leak}_t where a = 2"],
        'by a statement' => [static function () use ($db, $leak): void {
            $db->query('start transaction');
            $db->query("insert into {$leak}_t values (2)");
        }, "select count(*) = 0 from {$leak}_t where a = 2"],
        'without autocommit' => [static function () use ($db, $leak): void {
            $db->autocommit(false);
            $db->query("insert into {$leak}_t values (2)");
        }, "select count(*) = 0 from {$leak}_t where a = 2"],
        'a chained one' => [static function () use ($db, $leak): void {
            $db->begin_transaction();
            $db->commit(MYSQLI_TRANS_COR_AND_CHAIN);
            $db->query("insert into {$leak}_t values (2)");
        }, "select count(*) = 0 from {$leak}_t where a = 2"],
    ];
    foreach ($states as $what => [$change, $question]) {
        apart($change);
        $answer = outcome(static fn() => apart(static fn() => value($db, $question)));
        expect($answer == 1, "$what: " . \json_encode($answer));
        expect($db->pool->activeCount() === 0, "$what: a connection is held");
    }
    $ids = \array_map(static fn() => apart(static fn() => value($db, 'select connection_id()')), [1, 2]);
    expect($ids[0] === $ids[1], 'a query costs a connection');
    apart(static function () use ($db, $leak): void {
        $db->begin_transaction();
        $db->query("insert into {$leak}_t values (2)");
    });
    expect(apart(static fn() => value($db, 'select connection_id()')) === $ids[0], 'a transaction that is not ended costs a connection');
    $plain->query("drop table {$leak}_t");
});

with_coroutines('who holds a connection', static function (): void {
    $db = pooled(3);
    $held = static fn(): int => $db->pool->activeCount();
    $table = unique('held');
    $db->query("create table $table (id int auto_increment primary key, a int) engine=innodb");
    expect($held() === 0, 'a query does');
    $result = $db->query('select 1');
    expect($held() === 0 && $result->fetch_row() === ['1'], 'a buffered result does');
    $statement = $db->prepare("insert into $table (a) values (?)");
    expect($held() === 1, 'a statement does not');
    $statement->execute([5]);
    expect($db->insert_id === $statement->insert_id && $db->affected_rows === 1, 'properties are not those of the statement');
    unset($statement);
    expect($held() === 0, 'one that was freed does');
    $result = $db->query('select seq from seq_1_to_10', MYSQLI_USE_RESULT);
    expect($held() === 1, 'an unbuffered result does not');
    unset($result);
    expect($held() === 0, 'one that was freed does');
    $result = $db->query('select seq from seq_1_to_10', MYSQLI_USE_RESULT);
    $result->free();
    expect($held() === 0, 'one that free() was called for does');
    $statement = $db->prepare('select 1');
    \mysqli_stmt_close($statement);
    expect($held() === 0, 'a closed statement does');
    $db->begin_transaction();
    $other = apart(static fn() => value($db, "select count(*) from $table"));
    $db->query("insert into $table (a) values (6)");
    expect($held() === 1 && $other == 1 && apart(static fn() => value($db, "select count(*) from $table")) == 1, 'a transaction does not');
    $statement = $db->prepare("insert into $table (a) values (7)");
    $refused = outcome(static fn() => apart(static fn() => $statement->execute()));
    expect(\is_string($refused) && \str_contains($refused, 'another coroutine'), 'it ran in the transaction of another coroutine');
    $refused = outcome(static fn() => apart(static fn() => \mysqli_stmt_execute($statement)));
    expect(\is_string($refused) && \str_contains($refused, 'another coroutine'), 'by a function it did');
    $db->rollback();
    expect($held() === 1, 'the statement does not');
    $statement = null;
    expect($held() === 0 && value($db, "select count(*) from $table") == 1, 'a transaction that has ended does');
    $passed = apart(static fn() => $db->prepare('select 8'));
    expect($held() === 1 && $passed->execute() && $passed->get_result()->fetch_row() === [8], 'a statement that was passed on');
    unset($passed);
    expect($held() === 0, 'it does after its end');
    $db->autocommit(false);
    $db->query("insert into $table (a) values (9)");
    $db->commit();
    expect($held() === 1, 'without autocommit it does not');
    expect($db->autocommit(true) && $held() === 0, 'with it again it does');
    $db->begin_transaction();
    expect($db->close() && $held() === 0, 'close() does not give it back');
    // A lost connection is not kept for its statements.
    $statement = $db->prepare('select 1');
    $admin = new \mysqli(...server());
    $admin->query("kill {$db->thread_id}");
    while (value($admin, "select count(*) from information_schema.processlist where id = {$db->thread_id}") > 0) {
        Async\delay(1);
    }
    expect(\is_string(outcome(static fn() => $db->query('select 1'))) && value($db, 'select 5') == 5, 'the lost one is used again');
    expect($held() === 0 && \is_string(outcome(static fn() => $statement->execute())), 'its statement lives on');
    unset($statement);
    // A call in the middle of an unbuffered result fails, and the result goes on.
    $result = $db->query('select seq from seq_1_to_1000', MYSQLI_USE_RESULT);
    expect(\is_string(outcome(static fn() => $db->query('select 1'))) && \count($result->fetch_all()) === 1000, 'the result was lost');
    unset($result);
    expect($held() === 0 && value($db, 'select 6') == 6, 'it is not given back');
    $db->query("drop table $table");
    // Nothing holds it any more, and it is lent to others.
    expect(\count(\array_unique(Async\awaitAll(\array_map(
        static fn() => Async\spawn(static fn() => value($db, 'select connection_id() + 0 * sleep(0.01)')),
        \range(1, 9),
    )))) === 3, 'not all connections are used');
});

with_coroutines('properties and functions are about the coroutine\'s last call', static function (): void {
    $db = pooled(2);
    $table = unique('last');
    $db->query("create table $table (id int auto_increment primary key, a int)");
    $wrong = Async\awaitAll(\array_map(static fn(int $i) => Async\spawn(static function () use ($db, $table, $i): array {
        $wrong = [];
        $db->query("insert into $table (a) values ($i)");
        $id = $db->insert_id;
        Async\delay(1);
        value($db, "select a from $table where id = $id") == $i || $wrong[] = 'insert_id';
        try {
            $db->query("select none_$i");
        } catch (\mysqli_sql_exception) {
        }
        for ($turn = 0; $turn < 5; $turn++) {
            Async\delay(1);
            \str_contains($db->error, "none_$i") && $db->errno === 1054 && $db->sqlstate === '42S22' || $wrong[] = 'error';
            \str_contains(\mysqli_error($db), "none_$i") && \mysqli_errno($db) === 1054 || $wrong[] = 'mysqli_error';
            \count($db->error_list) === 1 || $wrong[] = 'error_list';
        }
        $db->query("update $table set a = a where a <= 0 or id = $id");
        Async\delay(1);
        $db->affected_rows === 0 && \mysqli_affected_rows($db) === 0 && \str_contains($db->info, 'Rows matched: 1') || $wrong[] = 'info';
        return $wrong;
    }), \range(1, 50)));
    expect(\array_merge(...$wrong) === [], 'others are answered: ' . \implode(' ', \array_unique(\array_merge(...$wrong))));
    // The check of a connection that was free for a while is no call of the coroutine's.
    $checked = pooled(1, healthcheckInterval: 1);
    outcome(static fn() => $checked->query('select none'));
    Async\delay(5);
    apart(static fn() => value($checked, 'select 1'));
    expect($checked->errno === 1054 && $checked->error !== '', 'the error is gone: ' . $checked->errno);
    $db->query("select cast('x' as unsigned)");
    expect($db->warning_count === 1 && $db->get_warnings()->message !== '', 'warnings');
    $answers = [\mysqli_get_server_info($db), \mysqli_get_host_info($db), \mysqli_get_server_version($db), \mysqli_get_proto_info($db), \mysqli_thread_id($db)];
    $plain = new \mysqli(...server());
    $expected = [$plain->server_info, $plain->host_info, $plain->server_version, $plain->protocol_version];
    expect(\array_slice($answers, 0, 4) === $expected && $answers[4] > 0, 'functions about the server');
    expect(\mysqli_real_escape_string($db, "a'b") === "a\\'b", 'mysqli_real_escape_string');
    expect(\mysqli_fetch_all(\mysqli_execute_query($db, 'select ?', [3])) === [['3']], 'mysqli_execute_query');
    expect(isset($db->insert_id, $db->pool) && !isset($db->none) && !empty($db->server_info), 'isset');
    expect(\str_contains(\print_r($db, true), $plain->server_info), 'print_r');
    expect((new \ReflectionClass($db))->getProperty('thread_id')->getValue($db) > 0, 'reflection');
    foreach ([
        static fn() => $db->query('select 1', MYSQLI_ASYNC), static fn() => \mysqli_query($db, 'select 1', MYSQLI_ASYNC),
        static fn() => $db->reap_async_query(), static fn() => \mysqli_reap_async_query($db), static fn() => $db->real_connect(),
        static function () use ($db) {
            $read = $error = [$db];
            $reject = [];
            return \mysqli_poll($read, $error, $reject, 0);
        },
        static function () use ($db) {
            $read = $error = [$db];
            $reject = [];
            return \mysqli::poll($read, $error, $reject, 0);
        },
        static fn() => new \mysqli_stmt($db, 'select 1'), static fn() => new \mysqli_result($db),
        static fn() => new PooledMysqli('p:localhost'), static fn() => \mysqli_ssl_set($db, '', '', '', '', ''),
    ] as $number => $refused) {
        $outcome = outcome($refused);
        expect(\is_string($outcome) && (\str_starts_with($outcome, 'Async\\AsyncException: ') || \str_starts_with($outcome, 'ValueError: ')),
            "$number is not refused: " . \json_encode($outcome));
    }
    // First-class callables of what is guarded.
    $query = \mysqli_query(...);
    $execute = $db->prepare('select 4');
    expect($query($db, 'select 5')->fetch_row() === ['5'] && $query($plain, 'select 6')->fetch_row() === ['6'], 'a closure of a function');
    expect($execute->execute(...)() === true, 'a closure of a method');
    unset($execute);
    $db->set_charset('latin1');
    $sets = Async\awaitAll(\array_map(static fn() => Async\spawn(static fn() => value($db, 'select @@character_set_client or sleep(0.01) = 9')), [1, 2]));
    $names = Async\awaitAll(\array_map(static fn() => Async\spawn(static fn() => $db->character_set_name()), [1, 2, 3]));
    expect(\array_unique($names) === ['latin1'], 'set_charset() is not for all');
    $db->query("drop table $table");
});

with_coroutines('mysqli_report(MYSQLI_REPORT_OFF)', static function (): void {
    \mysqli_report(MYSQLI_REPORT_OFF);
    try {
        $db = pooled(2, healthcheckInterval: 0);
        expect($db->query('select none') === false && $db->errno === 1054, 'a failure');
        expect($db->pool->activeCount() === 0 && \count($db->pool) === 1, 'it holds a connection');
        $admin = new \mysqli(...server());
        $table = unique('off');
        $admin->query("create table $table (a int) engine=innodb");
        $kill = static function () use ($db, $admin): void {
            $victim = value($db, 'select connection_id()');
            $admin->query("kill $victim");
            while (value($admin, "select count(*) from information_schema.processlist where id = $victim") > 0) {
                Async\delay(1);
            }
        };
        foreach (['begin_transaction', 'autocommit'] as $how) {
            apart(static function () use ($db, $table, $kill, $how): void {
                $kill();
                expect(($how === 'autocommit' ? @$db->autocommit(false) : @$db->begin_transaction()) === false, "$how has not failed");
                expect(@$db->query("insert into $table values (1)") === false, 'a statement has run outside of its transaction');
            });
        }
        apart(static function () use ($db, $kill): void {
            $statement = $db->prepare('select 1');
            $kill();
            expect(@$statement->execute() === false, 'a lost connection answers');
        });
        expect(apart(static fn() => value($db, 'select 2')) == 2, 'the next one gets the lost connection');
        expect(value($admin, "select count(*) from $table") == 0, 'rows');
        $admin->query("drop table $table");
        $refused = @outcome(static fn() => new PooledMysqli(server()[0], 'nobody', 'wrong', 'none', server()[4]));
        expect(\is_string($refused) && \str_starts_with($refused, 'Async\\AsyncException: '), 'no connection: ' . \json_encode($refused));
    } finally {
        \mysqli_report(MYSQLI_REPORT_ERROR | MYSQLI_REPORT_STRICT);
    }
});

with_coroutines('Pool::mysqli()', static function (): void {
    $pool = Async\Pool::mysqli(...server(), max: 1);
    $id = $pool->with(static function (\mysqli $db): int {
        $db->query('set @leak = 1');
        $db->begin_transaction();
        return $db->thread_id;
    });
    expect($pool->with(static fn(\mysqli $db) => [(int) value($db, 'select @leak is null'), $db->thread_id]) === [1, $id], 'what was left on it');
    $statement = $pool->with(static fn(\mysqli $db) => $db->prepare('select 3'));
    expect(\count($pool) === 0 && \is_string(outcome(static fn() => $statement->execute())), 'a statement whose mysqli is gone');
    unset($statement);
    $lost = $pool->acquire();
    $lost->query('set @leak = 1');
    unset($lost);
    expect(\count($pool) === 0 && $pool->with(static fn(\mysqli $db) => (int) value($db, 'select @leak is null')) === 1, 'one that was lost');
});

with_coroutines('the example of the manual', static function (): void {
    $manual = \file_get_contents(__DIR__ . '/../../../docs/pools.md');
    $section = \explode("\n## ", \explode("\n## A mysqli for all coroutines\n", $manual)[1])[0];
    \preg_match('/^```php\n(.*?)^```\n```output\n(.*?)^```$/ms', $section, $found) || expect(false, 'there is none');
    foreach (['HOST', 'USER', 'PASSWORD', 'DB', 'PORT'] as $place => $name) {
        \putenv('DB_' . ($name === 'DB' ? 'NAME' : $name) . '=' . server()[$place]);
    }
    \file_put_contents($file = \tempnam(\sys_get_temp_dir(), 'example'), "<?php\n{$found[1]}");
    \ob_start();
    try {
        (static fn() => require $file)();
    } finally {
        $output = \ob_get_clean();
        \unlink($file);
    }
    expect($output === $found[2], "it prints $output");
    (new \mysqli(...server()))->query('drop table users');
});
