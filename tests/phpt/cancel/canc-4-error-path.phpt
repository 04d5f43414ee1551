--TEST--
CANC-4 the blocked function takes its own error path first: an exception of its own is the previous one, nothing stays in error_get_last()
--EXTENSIONS--
pdo_sqlite
posix
--FILE--
<?php
use function Async\{delay, spawn};

require __DIR__ . '/kit.inc';
$dir = T\work_in();
posix_mkfifo('fifo', 0600);

$show = function(string $name, Closure $task): void {
    error_clear_last();
    $c = spawn(function() use ($task, $name) {
        try {
            $task();
            echo "$name: NOT REACHED\n";
        } finally {
            echo "$name: ", json_encode(error_get_last()), "\n";
        }
    });
    T\parked($c);
    $reason = new Async\CancellationException('reason');
    $c->cancel($reason);
    $e = T\failure($c);
    echo $e === $reason ? 'the reason' : get_class($e), ', previous: ', $e?->getPrevious() ? get_class($e->getPrevious()) : 'none', "\n";
};

[$a, $b] = T\pair();
$show('usleep', fn() => usleep(600_000_000));
$show('a silenced read', fn() => @fread($a, 10));
$show('SplFileObject', fn() => new SplFileObject('fifo'));

// SQLite waits for a lock by sleeping in its busy handler
$pdo = new PDO("sqlite:$dir/db");
$pdo->exec('create table t (x); begin exclusive');
$other = new PDO("sqlite:$dir/db", options: [PDO::ATTR_TIMEOUT => 600]);
$start = hrtime(true);
$show('PDO', fn() => $other->exec('insert into t values (1)'));
T\check('in time', T\ms($start) < 60_000, T\ms($start));
$pdo->exec('commit');
var_dump($other->exec('insert into t values (2)'), $other->query('select group_concat(x) from t')->fetchColumn());
?>
--EXPECTF--
usleep: null
the reason, previous: none
a silenced read: %s
the reason, previous: none
SplFileObject: null
the reason, previous: RuntimeException
PDO: null
the reason, previous: %r(PDOException|none)%r
in time: yes
int(1)
string(1) "2"
