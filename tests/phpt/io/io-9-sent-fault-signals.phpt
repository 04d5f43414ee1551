--TEST--
IO-9 a SIGSEGV or SIGBUS that somebody sends does what it does without coroutines
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require __DIR__ . '/kit.inc';

$scenes = [
    'to oneself' => 'RUN(function() { posix_kill(getmypid(), SIGNAL); usleep(1000); echo "alive"; });',
    'in the script, afterwards' => 'RUN(fn() => 0); posix_kill(getmypid(), SIGNAL); usleep(1000); echo "alive";',
    'ignored' => 'pcntl_signal(SIGNAL, SIG_IGN); RUN(function() { posix_kill(getmypid(), SIGNAL); usleep(1000); echo "alive"; });',
    'a handler from before' => 'pcntl_async_signals(true); pcntl_signal(SIGNAL, function($n) { echo "caught $n, "; });
        RUN(function() { posix_kill(getmypid(), SIGNAL); usleep(1000); echo "alive"; });',
    'a handler from inside' => 'pcntl_async_signals(true);
        RUN(function() { pcntl_signal(SIGNAL, function($n) { echo "caught $n, "; }); posix_kill(getmypid(), SIGNAL); usleep(1000); echo "alive"; });',
    'to a forked child' => '$child = 0; RUN(function() { $pair = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0); $child = pcntl_fork();
        if (!$child) { fwrite($pair[0], "x"); while (true) sleep(600); }
        fread($pair[1], 1); posix_kill($child, SIGNAL); pcntl_waitpid($child, $status); echo "child ended by ", pcntl_wtermsig($status); });',
    'to a child that has just been started' => 'RUN(function() { for ($i = 0; $i < 20; $i++) {
        $child = proc_open(["sleep", "20"], [], $pipes); posix_kill(proc_get_status($child)["pid"], SIGNAL);
        do { $status = proc_get_status($child); usleep(1000); } while ($status["running"]); proc_close($child); $ended[$status["termsig"]] = true; }
        echo "children ended by ", implode(" ", array_keys($ended)); });',
];
// an emulator of the processor reports in the output of its programs what has ended them
$run = fn(string $code): string => preg_replace('~qemu: uncaught target signal .*\n~', '', (string) T\php($code));
foreach ($scenes as $name => $code) {
    foreach (['SIGSEGV', 'SIGBUS'] as $signal) {
        $code = str_replace('SIGNAL', $signal, $scenes[$name]);
        $plain = $run('function run($f) { $f(); } ' . str_replace('RUN', 'run', $code));
        $inside = $run('function run($f) { Async\await(Async\spawn($f)); } ' . str_replace('RUN', 'run', $code));
        T\check("$name, $signal", $plain === $inside, "plain $plain, inside $inside");
    }
}
echo $plain, "\n";
?>
--EXPECT--
to oneself, SIGSEGV: yes
to oneself, SIGBUS: yes
in the script, afterwards, SIGSEGV: yes
in the script, afterwards, SIGBUS: yes
ignored, SIGSEGV: yes
ignored, SIGBUS: yes
a handler from before, SIGSEGV: yes
a handler from before, SIGBUS: yes
a handler from inside, SIGSEGV: yes
a handler from inside, SIGBUS: yes
to a forked child, SIGSEGV: yes
to a forked child, SIGBUS: yes
to a child that has just been started, SIGSEGV: yes
to a child that has just been started, SIGBUS: yes
[0] children ended by 7
