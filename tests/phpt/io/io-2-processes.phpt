--TEST--
IO-2 many child processes at once: each call gets the status and output of its own child
--EXTENSIONS--
pcntl
--FILE--
<?php
use function Async\spawn;

require __DIR__ . '/kit.inc';

T\work_in();
$gate = new T\Gate;
$ticks = new T\Ticks;
$jobs = [];
for ($i = 0; $i < 8; $i++) {
    $run = sprintf(T\Gate::WAIT . '; echo %d; exit %d', $i, $i + 10);
    $jobs["exec $i"] = spawn(function() use ($run) { exec($run, $lines, $status); return [(int) $lines[0], $status]; });
    $jobs["proc_close $i"] = spawn(function() use ($run) {
        $p = proc_open($run, [1 => ['pipe', 'w']], $pipes);
        return [(int) stream_get_contents($pipes[1]), proc_close($p)];
    });
    $jobs["pclose $i"] = spawn(function() use ($run) { $p = popen($run, 'r'); return [(int) fgets($p), pclose($p)]; });
    $jobs["waitpid $i"] = spawn(function() use ($i) {
        $pid = pcntl_fork();
        if ($pid === 0) {
            T\Gate::wait();
            pcntl_exec('/bin/sh', ['-c', 'exit ' . $i + 10]);
        }
        $got = pcntl_waitpid($pid, $status);
        return [$got === $pid ? $i : 'another child', pcntl_wexitstatus($status)];
    });
    $jobs["status $i"] = spawn(function() use ($run, $i) {
        $p = proc_open("exec >/dev/null; $run", [], $pipes);
        while (($status = proc_get_status($p))['running']) usleep(3000);
        proc_close($p);
        return [$i, $status['exitcode']];
    });
}
T\parked(...array_values($jobs));
T\check('ticking', $ticks->more());
$gate->open();
$wrong = [];
foreach (T\all($jobs) as $name => $result) {
    $i = (int) explode(' ', $name)[1];
    if ($result !== [$i, $i + 10]) $wrong[$name] = $result;
}
T\check('statuses', $wrong === [], $wrong);
$ticks->stop();
T\check('none left', T\children() === [], T\children());
?>
--EXPECT--
ticking: yes
statuses: yes
none left: yes
