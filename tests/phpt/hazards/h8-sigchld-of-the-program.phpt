--TEST--
H8 the program's own SIGCHLD handler is called, and its pcntl_waitpid(-1, WNOHANG) gets the children it forked
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
use function Async\spawn;

require __DIR__ . '/kit.inc';

T\work_in();
$gate = new T\Gate;
pcntl_async_signals(true);
$calls = 0;
$reaped = [];
$mine = [];
pcntl_signal(SIGCHLD, function() use (&$calls, &$reaped, &$mine) {
    $calls++;
    foreach ($mine as $pid => $_) {
        if (pcntl_waitpid($pid, $status, WNOHANG) === $pid) {
            $reaped[] = pcntl_wexitstatus($status);
            unset($mine[$pid]);
        }
    }
});
$ticks = new T\Ticks;
foreach ([3, 4, 5] as $status) {
    $pid = pcntl_fork();
    if ($pid === 0) {
        T\Gate::wait();
        exit($status);
    }
    $mine[$pid] = true;
}
// functions that wait for children of their own meanwhile are not confused
$shell = [];
for ($i = 0; $i < 3; $i++) $shell[] = spawn(function() use ($i) { exec(T\Gate::WAIT . "; exit 1$i", $lines, $status); return $status; });
T\parked(...$shell);
T\check('ticking', $ticks->more());
$gate->open();
echo implode(' ', T\all($shell)), "\n";
T\check('reaped', T\until(function() use (&$reaped) { return count($reaped) === 3; }), $reaped);
sort($reaped);
echo implode(' ', $reaped), ' ', json_encode($calls >= 1), "\n";
var_dump(pcntl_signal_get_handler(SIGCHLD) instanceof Closure);
$ticks->stop();
?>
--EXPECT--
ticking: yes
10 11 12
reaped: yes
3 4 5 true
bool(true)
