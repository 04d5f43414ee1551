--TEST--
H8 when the program ignores SIGCHLD the kernel reaps its children, also if there was a handler before, and while others wait
--EXTENSIONS--
pcntl
--FILE--
<?php
use function Async\{await, spawn};

require __DIR__ . '/kit.inc';

/** Whether the kernel sees the signal as ignored. */
function ignored(string $status): bool
{
    return preg_match('~^SigIgn:\s*(\w+)~m', $status, $match) && hexdec($match[1]) >> (SIGCHLD - 1) & 1;
}

T\work_in();
$gate = new T\Gate;
pcntl_signal(SIGCHLD, function() {});
$waits = spawn(fn() => pcntl_wait($status) . ' ' . (pcntl_get_last_error() === PCNTL_ECHILD ? 'no child' : 'other'));
$shell = spawn(function() { exec(T\Gate::WAIT . '; exit 3', $lines, $status); return $status; });
T\parked($waits, $shell);

pcntl_signal(SIGCHLD, SIG_IGN);
var_dump(pcntl_signal_get_handler(SIGCHLD) === SIG_IGN, ignored(file_get_contents('/proc/self/status')));
$pid = pcntl_fork();
if ($pid === 0) {
    exit(1);
}
var_dump(pcntl_waitpid($pid, $status), pcntl_get_last_error() === PCNTL_ECHILD);
var_dump(await(spawn(function() {
    $process = proc_open(['cat', '/proc/self/status'], [1 => ['pipe', 'w']], $pipes);
    return ignored(stream_get_contents($pipes[1]));
})));
$gate->open();
echo await($shell), "\n"; // as without Spindle, where the child is gone
echo await($waits), "\n";

// and a handler again
$calls = 0;
pcntl_async_signals(true);
pcntl_signal(SIGCHLD, function() use (&$calls) { $calls++; });
$pid = pcntl_fork();
if ($pid === 0) {
    exit(5);
}
var_dump(pcntl_waitpid($pid, $status) === $pid, pcntl_wexitstatus($status));
T\check('called', T\until(function() use (&$calls) { return $calls > 0; }));
?>
--EXPECT--
bool(true)
bool(true)
int(-1)
bool(true)
bool(true)
-1
-1 no child
bool(true)
int(5)
called: yes
