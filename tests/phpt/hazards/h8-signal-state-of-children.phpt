--TEST--
H8 children inherit no blocked or ignored signals from the reactor, end by SIGTERM, and threads of the pool take no signals
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
use function Async\spawn;

require __DIR__ . '/kit.inc';
T\work_in(['file' => 'x']);

$seen = fn() => shell_exec('grep -E "^Sig(Blk|Ign)" /proc/self/status');
$run = function() { $p = proc_open(['grep', '-E', '^Sig(Blk|Ign)', '/proc/self/status'], [1 => ['pipe', 'w']], $pipes); return stream_get_contents($pipes[1]); };
// (signals 32 and 33 are libc's own: it sets them when the first thread is made)
$own = fn(string $status) => preg_replace_callback('/[0-9a-f]{16}/', fn($m) => dechex(hexdec($m[0]) & ~0x180000000), $status);
$raw = [$seen, $run];
$seen = fn() => $own($raw[0]());
$run = fn() => $own($raw[1]());
$plain = [$seen(), $run()];
$blocked = fn(string $status) => preg_match('/^SigBlk:\s+(\w+)/m', $status, $m) ? $m[1] : '';

// everything that could set masks is at work: processes, pool jobs, timers
$jobs = [spawn(fn() => shell_exec('sleep 0.3')), spawn(fn() => T\turns(300)), spawn(function() { for ($i = 0; $i < 50; $i++) file_get_contents('file'); fsync(fopen('file', 'r+')); gethostbyaddr('127.0.0.1'); })];
T\all([$jobs[2]]);
foreach (['the script' => [$seen(), $run()], 'a coroutine' => [Async\await(spawn($seen)), Async\await(spawn($run))]] as $where => $states) {
    T\check("children of $where", $states === $plain, [$plain, $states]);
}

// SIGTERM ends a child of every kind
$p = proc_open(['sleep', '600'], [], $pipes);
proc_terminate($p);
$start = hrtime(true);
proc_close($p);
T\check('proc_terminate', T\ms($start) < 60_000, T\ms($start));
$pid = Async\await(spawn(function() { $pid = pcntl_fork(); if ($pid === 0) { sleep(600); exit(0); } return $pid; }));
posix_kill($pid, SIGTERM);
pcntl_waitpid($pid, $status);
var_dump(pcntl_wifsignaled($status) && pcntl_wtermsig($status) === SIGTERM);

// this process: its main thread blocks nothing, every other thread blocks all that can be caught by the program
$main = file_get_contents('/proc/self/task/' . getmypid() . '/status');
$open = [];
foreach (glob('/proc/self/task/*/status') as $file) {
    if (basename(dirname($file)) === (string) getmypid()) continue;
    $mask = hexdec(substr($blocked(file_get_contents($file)), -8));
    foreach ([SIGINT, SIGTERM, SIGCHLD, SIGUSR1, SIGALRM, SIGHUP] as $signal) if (!($mask & (1 << $signal - 1))) $open[basename(dirname($file))][] = $signal;
}
var_dump(hexdec($blocked($main)), $open);
$jobs[1]->cancel();
?>
--EXPECT--
children of the script: yes
children of a coroutine: yes
proc_terminate: yes
bool(true)
int(0)
array(0) {
}
