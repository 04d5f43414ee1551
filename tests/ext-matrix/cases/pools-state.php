<?php
// needs: postgres mariadb ext:pdo_pgsql ext:pdo_mysql ext:pdo_sqlite
// What a coroutine leaves on its connection, in whatever way it is written, no other coroutine gets.
namespace Matrix;

use Async;

/** A statement that is no string. */
final class Text
{
    public function __construct(private readonly string $text)
    {
    }

    public function __toString(): string
    {
        return $this->text;
    }
}

function pool_of_one(string $kind): Async\PooledPDO
{
    if ($kind === 'sqlite') {
        return new Async\PooledPDO('sqlite:' . \tempnam(\sys_get_temp_dir(), 'state'), max: 1);
    }
    $name = $kind === 'pgsql' ? 'SPINDLE_PG' : 'SPINDLE_MYSQL';
    return new Async\PooledPDO(\getenv("{$name}_DSN"), \getenv("{$name}_USER"), \getenv("{$name}_PASSWORD"), max: 1);
}

/** Returns the first value of a result, or the class of the failure. */
function answer(\PDO $db, string $sql): mixed
{
    try {
        return $db->query($sql)->fetchColumn();
    } catch (\PDOException) {
        return \PDOException::class;
    }
}

$leak = unique('leak');
$key = \crc32($leak);
$sql = [
    'mysql' => [
        'set up' => [
            "create table {$leak}_t (a int) engine=innodb",
            "create function {$leak}_f() returns int no sql return get_lock('$leak', 0)",
            "create procedure {$leak}_p() set @leak = 1",
        ],
        'states' => [
            'a variable' => ["set @leak = 1", 'select @leak is null'],
            'by select' => ["select 1 into @_leak", 'select @_leak is null'],
            'in backticks' => ["select 1 into @`leak`", 'select @leak is null'],
            'in quotes' => ["select 1 into @'leak'", 'select @leak is null'],
            'in a comment' => ["select 1 /*!50000 into @leak */", 'select @leak is null'],
            'assigned' => ["select @_leak:=1", 'select @_leak is null'],
            'by a procedure' => ["call {$leak}_p()", 'select @leak is null'],
            'of several' => ["select 1; set @leak = 1", 'select @leak is null'],
            'a text that is an object' => [new Text('set @leak = 1'), 'select @leak is null'],
            'the mode' => ["set session sql_mode = 'ansi'", "select @@sql_mode not like '%ANSI%'"],
            'a lock' => ["select get_lock('$leak', 0)", "select is_free_lock('$leak')"],
            'with a space' => ["select get_lock ('$leak', 0)", "select is_free_lock('$leak')"],
            'by a function' => ["select {$leak}_f()", "select is_free_lock('$leak')"],
            'locked tables' => ["lock\ttables {$leak}_t read", "insert into {$leak}_t values (1) returning 1"],
            'a temporary table' => ["create\ttemporary\ttable temp_$leak (a int)", "select count(*) from temp_$leak", \PDOException::class],
            'with a comment' => ["create/* a */temporary table temp_$leak (a int)", "select count(*) from temp_$leak", \PDOException::class],
            'a prepared statement' => ["prepare leak from 'select 1'", 'execute leak', \PDOException::class],
            'a database' => ["use information_schema", "select database() <> 'information_schema'"],
            'autocommit' => ["set autocommit = 0", 'select @@autocommit'],
            'of the next transaction' => ["set transaction read only", "insert into {$leak}_t values (1) returning 1"],
        ],
        'clean up' => ["drop table {$leak}_t", "drop function {$leak}_f", "drop procedure {$leak}_p"],
    ],
    'pgsql' => [
        'set up' => [
            "create function {$leak}_f() returns text language sql as \$\$ select set_config('spindle.leak', '1', false) \$\$",
            "create procedure {$leak}_p() language sql as \$\$ select set_config('spindle.leak', '1', false) \$\$",
        ],
        'states' => [
            'a setting' => ["set spindle.leak = '1'", "select coalesce(current_setting('spindle.leak', true), '') = ''"],
            'by select' => ["select set_config('spindle.leak', '1', false)", "select coalesce(current_setting('spindle.leak', true), '') = ''"],
            'by a quoted name' => ["select \"set_config\"('spindle.leak', '1', false)", "select coalesce(current_setting('spindle.leak', true), '') = ''"],
            'by letters in escapes' => ["select U&\"set\\005fconfig\"('spindle.leak', '1', false)", "select coalesce(current_setting('spindle.leak', true), '') = ''"],
            'by a function' => ["select {$leak}_f()", "select coalesce(current_setting('spindle.leak', true), '') = ''"],
            'by a procedure' => ["call {$leak}_p()", "select coalesce(current_setting('spindle.leak', true), '') = ''"],
            'by a block' => ["do \$\$ begin perform set_config('spindle.leak', '1', false); end \$\$", "select coalesce(current_setting('spindle.leak', true), '') = ''"],
            'after a comment' => ["select 1 /* /* */ ' */ ; set spindle.leak = '1' --'", "select coalesce(current_setting('spindle.leak', true), '') = ''"],
            'a lock' => ["select pg_advisory_lock($key)", "select count(*) = 0 from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()"],
            'of a failed statement' => [
                "select pg_advisory_lock($key), 1 / (select count(*) from pg_class where relname = 'none')",
                "select count(*) = 0 from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()",
            ],
            'a temporary table' => ["create\ttemp\ntable temp_$leak (a int)", "select count(*) from temp_$leak", \PDOException::class],
            'with a comment' => ["create/**/temporary/**/table temp_$leak (a int)", "select count(*) from temp_$leak", \PDOException::class],
            'of its schema' => ["create table pg_temp.temp_$leak (a int)", "select count(*) from pg_temp.temp_$leak", \PDOException::class],
            'of a query' => ["select 1 as a into temp temp_$leak", "select count(*) from temp_$leak", \PDOException::class],
            'a prepared statement' => ["prepare leak as select 1", 'execute leak', \PDOException::class],
            'a channel' => ["listen leak", 'select count(*) = 0 from pg_listening_channels()'],
            'a cursor' => ["declare leak cursor with hold for select 1", 'fetch leak', \PDOException::class],
        ],
        'clean up' => ["drop function {$leak}_f", "drop procedure {$leak}_p"],
    ],
    'sqlite' => [
        'set up' => ["create table t (a)"],
        'states' => [
            'a temporary table' => ["create\ttemp\ttable temp_t (a)", 'select count(*) from temp_t', \PDOException::class],
            'with a comment' => ["create/**/temp/**/table temp_t (a)", 'select count(*) from temp_t', \PDOException::class],
            'of its schema' => ["create table temp.temp_t (a)", 'select count(*) from temp_t', \PDOException::class],
            'a setting' => ["pragma/**/foreign_keys = 1", 'select foreign_keys = 0 from pragma_foreign_keys'],
            'a savepoint' => ["savepoint a", 'rollback to a', \PDOException::class],
            'a database' => ["attach ':memory:' as other", 'select count(*) from other.sqlite_master', \PDOException::class],
        ],
        'clean up' => [],
    ],
];

foreach ($sql as $kind => ['set up' => $set_up, 'states' => $states, 'clean up' => $clean_up]) {
    with_coroutines("$kind: states of a connection", static function () use ($kind, $set_up, $states, $clean_up): void {
        $db = pool_of_one($kind);
        foreach ($set_up as $one) {
            Async\await(Async\spawn(static fn() => $db->exec($one)));
        }
        foreach ($states as $what => $state) {
            [$change, $question] = $state;
            foreach (['query', 'exec', 'prepare'] as $method) {
                Async\await(Async\spawn(static function () use ($db, $change, $method, $kind): void {
                    try {
                        $result = $db->$method($change);
                        $method === 'prepare' && $result->execute();
                        while ($result instanceof \PDOStatement && $kind === 'mysql' && $result->nextRowset());
                    } catch (\PDOException) {
                        // a statement that fails, or one that cannot be prepared
                    }
                }));
                // A server may take a while to notice that a connection was closed, and to end its locks.
                for ($try = 0, $is_right = false; !$is_right && $try < (\str_contains($question, 'lock') ? 500 : 1); $try++) {
                    $try > 0 && Async\delay(10);
                    $answer = Async\await(Async\spawn(static fn() => answer($db, $question)));
                    $is_right = isset($state[2]) ? $answer === $state[2] : (bool) $answer && $answer !== \PDOException::class;
                }
                expect($is_right, "$what, by $method(): " . \json_encode($answer));
                expect($db->pool->activeCount() === 0, "$what, by $method(): a connection is held");
            }
        }
        // What is in use is not kept for longer than that.
        $own = ['mysql' => 'select connection_id()', 'pgsql' => 'select pg_backend_pid()', 'sqlite' => 'select 1'][$kind];
        $one = Async\await(Async\spawn(static fn() => $db->query($own)->fetchColumn()));
        $two = Async\await(Async\spawn(static fn() => $db->query($own)->fetchColumn()));
        expect($one === $two, 'a query costs a connection');
        foreach ($clean_up as $one) {
            $db->exec($one);
        }
    });
}
