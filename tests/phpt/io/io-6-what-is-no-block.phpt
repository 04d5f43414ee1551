--TEST--
IO-6 no report: of waiting, before the first coroutine, after the last, while the process is stopped; a fork's child has a watchdog of its own
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require __DIR__ . '/kit.inc';

// Where nothing is to be reported the limit is longer than a process stands still on a busy machine. They run side by side.
$on = '-d async.block_warning_ms=80';
$hog = 'function hog($ms = 2500) { for ($end = hrtime(true) + $ms * 1_000_000; hrtime(true) < $end; ); } ';
$silences = [];
$silent = function (string $name, string $code, string $options = '') use (&$silences, $hog): void {
    $silences[$name] = Async\spawn(fn () => T\php($hog . $code, "-d async.block_warning_ms=2000 $options"));
};
$silent('waiting', <<<'PHP'
    Async\spawn(fn () => usleep(2_500_000));
    Async\spawn(fn () => shell_exec('sleep 2.5'));
    $pair = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    Async\spawn(function () use ($pair) { Async\delay(2500); fwrite($pair[1], 'x'); });
    Async\await(Async\spawn(fn () => fgetc($pair[0])));
    gethostbyaddr('127.0.0.1');
    echo "done\n";
    PHP);
$silent('before the first', 'hog(); Async\await(Async\spawn(fn () => Async\delay(1))); echo "done\n";');
$silent('after the last', 'Async\await(Async\spawn(fn () => 1)); register_shutdown_function(function () { hog(); echo "done\n"; });');
$silent('giving way', <<<'PHP'
    Async\spawn(function () { for ($end = hrtime(true) + 2_500_000_000; hrtime(true) < $end; ) Async\suspend(); });
    Async\spawn(fn () => Async\delay(2500));
    echo "done\n";
    PHP);
$silent('computing beside nobody who is ready', <<<'PHP'
    Async\spawn(fn () => 1);
    $null = fopen('php://memory', 'w');
    for ($end = hrtime(true) + 2_500_000_000; hrtime(true) < $end; ) fwrite(STDOUT, '');
    echo "done\n";
    PHP);
$silent('stopped', <<<'PHP'
    Async\spawn(fn () => Async\delay(1));
    Async\delay(5);
    exec('(sleep 4; kill -CONT ' . getmypid() . ') >/dev/null 2>&1 &');
    hog(300);
    posix_kill(getmypid(), SIGSTOP);
    hog(50);
    Async\suspend();
    echo "done\n";
    PHP);
foreach ($silences as $name => $silence) {
    $ended = Async\await($silence);
    T\check($name, $ended->output === "done\n" && $ended->status === 0, $ended);
}

$threads = 'echo implode(" ", array_map(fn ($f) => trim(file_get_contents($f)), glob("/proc/self/task/*/comm"))), "\n";';
$ended = T\php("$threads Async\\spawn(fn () => 1); Async\\delay(100); $threads register_shutdown_function(function () { $threads });", $on);
$lines = explode("\n", $ended->output);
T\check('its thread', !str_contains($lines[0], 'spindle') && str_contains($lines[1], 'spindle-watch'), $ended);
$ended = T\php("Async\\spawn(fn () => 1); $threads", '-d async.block_warning_ms=0');
T\check('off: no thread', !$ended->has('spindle-watch'), $ended);

$ended = T\php($hog . <<<'PHP'
    Async\spawn(fn () => Async\delay(600));
    Async\delay(1);
    $pid = pcntl_fork();
    $who = $pid === 0 ? 'child' : 'parent';
    Async\spawn(fn () => Async\delay(1));
    Async\delay(50);
    hog(400);
    Async\suspend();
    if ($pid === 0) {
        exit(7);
    }
    pcntl_waitpid($pid, $status);
    echo 'child: ', pcntl_wexitstatus($status), "\n";
    $pid = pcntl_fork();
    if ($pid === 0) {
        exit(8); // never gives way
    }
    pcntl_waitpid($pid, $status);
    echo 'child: ', pcntl_wexitstatus($status), "\n";
    PHP, $on);
T\check('parent and child', preg_match_all('~has blocked~', $ended->output) >= 2 && $ended->has("child: 7\n", "child: 8\n"), $ended);
?>
--EXPECT--
waiting: yes
before the first: yes
after the last: yes
giving way: yes
computing beside nobody who is ready: yes
stopped: yes
its thread: yes
off: no thread: yes
parent and child: yes
