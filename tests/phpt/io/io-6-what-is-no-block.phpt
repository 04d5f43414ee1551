--TEST--
IO-6 no report: of waiting, before the first coroutine, after the last, while the process is stopped; a fork's child has a watchdog of its own
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require __DIR__ . '/kit.inc';

$on = '-d async.block_warning_ms=80';
$hog = 'function hog() { for ($end = hrtime(true) + 300_000_000; hrtime(true) < $end; ); } ';
$silent = function (string $name, string $code, string $options = '') use ($on, $hog): void {
    $ended = T\php($hog . $code, "$on $options");
    T\check($name, $ended->output === "done\n" && $ended->status === 0, $ended);
};
$silent('waiting', <<<'PHP'
    Async\spawn(fn () => usleep(300_000));
    Async\spawn(fn () => shell_exec('sleep 0.3'));
    $pair = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    Async\spawn(function () use ($pair) { Async\delay(300); fwrite($pair[1], 'x'); });
    Async\await(Async\spawn(fn () => fgetc($pair[0])));
    gethostbyname('localhost');
    echo "done\n";
    PHP);
$silent('before the first', 'hog(); Async\await(Async\spawn(fn () => Async\delay(1))); echo "done\n";');
$silent('after the last', 'Async\await(Async\spawn(fn () => 1)); register_shutdown_function(function () { hog(); echo "done\n"; });');
$silent('giving way', <<<'PHP'
    Async\spawn(function () { for ($end = hrtime(true) + 400_000_000; hrtime(true) < $end; ) Async\suspend(); });
    Async\spawn(fn () => Async\delay(300));
    echo "done\n";
    PHP);
$silent('computing beside nobody who is ready', <<<'PHP'
    Async\spawn(fn () => 1);
    $null = fopen('php://memory', 'w');
    for ($end = hrtime(true) + 400_000_000; hrtime(true) < $end; ) fwrite(STDOUT, '');
    echo "done\n";
    PHP);
$silent('stopped', <<<'PHP'
    Async\spawn(fn () => Async\delay(1));
    Async\delay(5);
    exec('(sleep 2; kill -CONT ' . getmypid() . ') >/dev/null 2>&1 &');
    for ($end = hrtime(true) + 300_000_000; hrtime(true) < $end; );
    posix_kill(getmypid(), SIGSTOP);
    for ($end = hrtime(true) + 50_000_000; hrtime(true) < $end; );
    Async\suspend();
    echo "done\n";
    PHP, '-d async.block_warning_ms=500');

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
    hog();
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
T\check('parent and child', preg_match_all('~has blocked~', $ended->output) === 2 && $ended->has("child: 7\n", "child: 8\n"), $ended);
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
