--TEST--
IO-5 a fork in the script while coroutines wait, children that end on their own, children of children, and many of them
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
use function Async\{await, getCoroutines, spawn};

require __DIR__ . '/kit.inc';

$ticks = new T\Ticks;
$sleeper = spawn(function() { T\turns(150); return 'slept in ' . posix_getppid(); });
T\turns(10);
$pids = [];
for ($i = 0; $i < 5; $i++) {
    $pid = pcntl_fork();
    if ($pid === 0) {
        $alive = count(getCoroutines());
        $sum = array_sum(T\all([spawn(function() { T\turns(5); return 1; }), spawn(function() { usleep(5000); return 2; })]));
        if ($i === 4) {
            // a child of the child
            $grandchild = pcntl_fork();
            if ($grandchild === 0) exit(await(spawn(function() { T\turns(5); return 40; })));
            pcntl_waitpid($grandchild, $status);
            $sum += pcntl_wexitstatus($status);
        }
        exit($sum * 2 + ($alive === 1 ? 1 : 0));
    }
    $pids[] = $pid;
}
$statuses = [];
foreach ($pids as $pid) {
    pcntl_waitpid($pid, $status);
    $statuses[] = pcntl_wifexited($status) ? pcntl_wexitstatus($status) : 'signal ' . pcntl_wtermsig($status);
}
echo implode(' ', $statuses), "\n";
T\check('the parent goes on', await($sleeper) === 'slept in ' . posix_getppid() && $ticks->stop() > 5, $ticks->count);

// a child that does not exit but reaches the end of the script: its copy of the others does not run
$ended = T\php(<<<'PHP'
    Async\spawn(function() { Async\delay(50); echo "other\n"; });
    Async\delay(5);
    if (pcntl_fork() === 0) { echo "child\n"; return; }
    pcntl_wait($status);
    echo "parent ", pcntl_wexitstatus($status), "\n";
    PHP);
$lines = explode("\n", $ended->output);
sort($lines);
echo implode(', ', array_filter($lines)), " [$ended->status]\n";
?>
--EXPECT--
7 7 7 7 87
the parent goes on: yes
child, other, parent 0 [0]
