--TEST--
IO-5 the child of a fork ends where it would wait for a lock of a coroutine that only its parent has: with its status, and a line
--EXTENSIONS--
pcntl
pdo_sqlite
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/kit.inc';
chdir(T\work_in());
$begin = <<<'PHP'
    require getenv('SPINDLE_ROOT') . '/tests/phpt/kit.inc';
    use function Async\{await, spawn};
    $a = new PDO('sqlite:db');
    $a->exec('create table if not exists t (a)');
    $a->exec('begin immediate');
    $b = new PDO('sqlite:db');
    $job = spawn(fn() => $b->exec('insert into t values (1)'));   // waits in SQLite's busy handler, with SQLite's mutex
    T\parked($job);
    $pid = pcntl_fork();
    PHP;
$end = <<<'PHP'
    $a->exec('commit');
    pcntl_waitpid($pid, $status);
    echo 'child: ', pcntl_wexitstatus($status), ', job: ', await($job), "\n";
    PHP;
echo T\php("$begin if (!\$pid) { echo \"child ends\\n\"; exit(3); } $end"), "\n";
echo T\php("$begin if (!\$pid) { echo \"child goes on\\n\"; \$b->query('select 1'); echo 'never'; } $end"), "\n";
// Others that it has are of use.
echo T\php("$begin if (!\$pid) { echo (new PDO('sqlite::memory:'))->query('select 7')->fetchColumn(), \"\\n\"; exit(4); } $end"), "\n";
unlink('db');
?>
--EXPECT--
[0] child ends
child: 3, job: 1

[0] child goes on
spindle: pthread_mutex_lock: a coroutine that does not go on holds the lock, so this process ends
child: 255, job: 1

[0] 7
child: 4, job: 1
