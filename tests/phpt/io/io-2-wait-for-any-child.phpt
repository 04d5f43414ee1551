--TEST--
IO-2 pcntl_wait() for any child gives way, gets each of the forked children once, and ECHILD at the end
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
use function Async\spawn;

require __DIR__ . '/kit.inc';

T\work_in();
$gate = new T\Gate;
$ticks = new T\Ticks;
$waiting = spawn(function() {
    $pids = $got = [];
    foreach ([3, 1, 2] as $n) {
        $pid = pcntl_fork();
        if ($pid === 0) pcntl_exec('/bin/sh', ['-c', T\Gate::WAIT . "; exit $n"]);
        $pids[$pid] = $n;
    }
    for ($i = 0; $i < 3; $i++) {
        $pid = pcntl_wait($status);
        $got[$pid] = pcntl_wexitstatus($status);
    }
    ksort($pids);
    ksort($got);
    return [$pids === $got, pcntl_wait($status), pcntl_get_last_error() === PCNTL_ECHILD];
});
T\parked($waiting);
T\check('ticking', $ticks->more());
$gate->open();
echo json_encode(Async\await($waiting)), "\n";
$ticks->stop();

// a stopped child, and WNOHANG
[$stopped, $none] = Async\await(spawn(function() {
    $pid = pcntl_fork();
    if ($pid === 0) {
        posix_kill(posix_getpid(), SIGSTOP);
        pcntl_exec('/bin/true');
    }
    pcntl_waitpid($pid, $status, WUNTRACED);
    $stopped = pcntl_wifstopped($status);
    $none = pcntl_waitpid($pid, $status, WNOHANG);
    posix_kill($pid, SIGCONT);
    pcntl_waitpid($pid, $status);
    return [$stopped && pcntl_wifexited($status), $none];
}));
var_dump($stopped, $none);
?>
--EXPECT--
ticking: yes
[true,-1,true]
bool(true)
int(0)
