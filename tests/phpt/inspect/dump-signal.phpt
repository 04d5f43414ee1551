--TEST--
async.dump_signal: the signal makes what dump() prints go to standard error, and disturbs nothing
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require __DIR__ . '/kit.inc';

$on = '-d async.dump_signal=SIGUSR1 -d async.seed=0';
$kill = 'posix_kill(posix_getpid(), SIGUSR1);';

// while only waits are left, sent from outside; order, results of calls and handlers of other signals stay
T\work_in(['waits.php' => "<?php\n" . <<<'PHP'
    use function Async\{delay, spawn, suspend};
    pcntl_async_signals(true);
    $heard = 0;
    pcntl_signal(SIGUSR2, function () use (&$heard) { $heard++; });
    spawn(fn() => print('usleep ' . var_export(usleep(2_500_000), true) . "\n"));
    [$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    $c = spawn(fn() => print('fgets ' . var_export(fgets($a), true) . "\n"));
    spawn(function () {
        while ((Async\getCoroutines()[0]->getAwaitingInfo()['call'] ?? '') !== 'sleep') suspend();
        echo "asleep\n";
    });
    $left = sleep(3);
    echo "sleep $left\n";
    fwrite($b, 'x');
    fclose($b);
    Async\await($c);
    posix_kill(posix_getpid(), SIGUSR2);
    $order = '';
    foreach (['a', 'b', 'c'] as $name) {
        spawn(function () use ($name, &$order) {
            for ($i = 0; $i < 3; $i++) { $order .= $name; suspend(); }
        });
    }
    posix_kill(posix_getpid(), SIGUSR1);
    delay(10);
    echo "$order $heard\n";
    PHP]);
$process = proc_open('exec ' . T\interpreter($on) . ' waits.php', [1 => ['pipe', 'w'], 2 => ['pipe', 'w']], $pipes);
$output = fgets($pipes[1]);
for ($i = 0; $i < 2; $i++) {
    proc_terminate($process, SIGUSR1);
    for ($n = 0; $n < 5; $n++) $output .= fgets($pipes[2]);
}
$output .= stream_get_contents($pipes[1]) . stream_get_contents($pipes[2]);
$ended = new T\Ended($output, proc_close($process));
$lines = '~^(Async.dump|global scope|  ).*\n~m';
T\check('three times', preg_match_all('~^Async\\\\dump: 3 coroutines in 1 scope$~m', $ended->output) === 2
    && substr_count($ended->output, 'Async\\dump: ') === 3 && $ended->has('waits in sleep() for ', 'waits in usleep() for '), $ended);
echo preg_replace($lines, '', $ended->output);

// who computes is not interrupted: at the next turn
$ended = T\php("Async\\spawn(fn() => null);\n$kill\n\$end = hrtime(true) + 50_000_000; while (hrtime(true) < \$end);\necho \"computed\\n\"; Async\\delay(1);", $on);
T\check('at the next turn', str_starts_with($ended->output, "computed\nAsync\\dump: 2 coroutines in 1 scope\n"), $ended);

// what the program sets is what holds
$own = 'pcntl_async_signals(true); pcntl_signal(SIGUSR1, function () { echo "mine\n"; });';
echo T\php("Async\\spawn(fn() => null); $own $kill Async\\delay(10);", $on), T\php("$own Async\\spawn(fn() => null); $kill Async\\delay(10);", $on);
$ended = T\php("Async\\spawn(fn() => null); pcntl_signal(SIGUSR1, SIG_IGN); $kill Async\\delay(10); echo 'lives';", $on);
T\check('ignored', (string) $ended === '[0] lives', $ended);
foreach ([$on => 'Async\spawn(fn() => null); pcntl_signal(SIGUSR1, SIG_DFL);', '' => 'Async\spawn(fn() => null);', "$on " => '/* nothing spawned */'] as $options => $code) {
    T\check($code, T\php("$code $kill Async\\delay(600_000);", $options)->status === 128 + SIGUSR1);
}

// in the child of a fork
$ended = T\php("Async\\spawn(fn() => null); if (!\$pid = pcntl_fork()) { $kill Async\\delay(10); exit; } pcntl_waitpid(\$pid, \$status); echo \$status;", $on);
T\check('in a child', preg_match('~^Async.dump: 1 coroutine in 1 scope\n.*\n  #1 .*\n0$~', $ended->output), $ended);

echo trim(T\php('', '-d async.dump_signal=TERM')->output);
?>
--EXPECTF--
three times: yes
asleep
usleep NULL
sleep 0
fgets 'x'
abcabcabc 1
at the next turn: yes
[0] mine
[0] mine
ignored: yes
Async\spawn(fn() => null); pcntl_signal(SIGUSR1, SIG_DFL);: yes
Async\spawn(fn() => null);: yes
/* nothing spawned */: yes
in a child: yes
Warning: async.dump_signal must be "SIGUSR1", "SIGUSR2", "SIGQUIT" or empty, "TERM" given in Unknown on line 0
