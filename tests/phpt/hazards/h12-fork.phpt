--TEST--
H12 a forked child inherits none of the reactor's descriptors over exec, and does not run the others' cleanup however it ends
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require __DIR__ . '/kit.inc';

// what an executed program sees
$seen = T\php(<<<'PHP'
    use function Async\{await, delay, spawn};
    $jobs = [spawn(fn() => delay(300)), spawn(fn() => shell_exec('sleep 0.2')), spawn(fn() => gethostbyaddr('127.0.0.1'))];
    [$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    spawn(fn() => fgets($a));
    delay(20);
    $list = function(string $name, string $fds) { echo "$name: ", preg_match_all('~anon_inode|eventfd|eventpoll|timerfd|signalfd~', $fds), "\n"; };
    $list('shell_exec', shell_exec('ls -l /proc/self/fd 2>/dev/null'));
    $p = proc_open(['ls', '-l', '/proc/self/fd'], [1 => ['pipe', 'w'], 2 => ['null']], $pipes);
    $list('proc_open', stream_get_contents($pipes[1]));
    await(spawn(function() use ($list) {
        $p = popen('ls -l /proc/self/fd 2>/dev/null', 'r');
        $list('popen', stream_get_contents($p));
    }));
    flush();
    fclose($b);
    $jobs[0]->cancel();
    PHP);
echo $seen;

// each way for a child to end
$endings = [
    'exit' => 'exit(3);',
    'the end of the script' => 'return;',
    'an exception' => 'fclose(STDERR); ini_set("display_errors", "0"); throw new Exception;',
    'a fatal error' => 'ini_set("display_errors", "0"); trigger_error("x", E_USER_ERROR);',
    'a signal' => 'posix_kill(posix_getpid(), SIGKILL);',
    'exec' => 'pcntl_exec("/bin/true");',
];
foreach ($endings as $name => $end) {
    foreach (['the script' => '%s', 'a coroutine' => 'await(spawn(function() { delay(2); %s }));'] as $where => $form) {
        $code = sprintf($form, "if (pcntl_fork() === 0) { define('CHILD', 1); $end } pcntl_wait(\$status); echo 'P';");
        $ended = T\php(<<<PHP
            use function Async\{await, delay, spawn};
            final class D { function __destruct() { echo defined('CHILD') ? 'DESTRUCTOR IN THE CHILD ' : 'd'; } }
            function job() { \$d = new D; try { delay(60); } finally { echo defined('CHILD') ? 'FINALLY IN THE CHILD ' : 'f'; } }
            spawn('job');
            spawn('job');
            delay(2);
            $code
            PHP);
        // f and d come once for each of the two, from the parent
        $letters = str_split(trim($ended->output));
        sort($letters);
        T\check("$name in $where", implode('', $letters) === 'Pddff', $ended);
    }
}
?>
--EXPECT--
[0] shell_exec: 0
proc_open: 0
popen: 0
exit in the script: yes
exit in a coroutine: yes
the end of the script in the script: yes
the end of the script in a coroutine: yes
an exception in the script: yes
an exception in a coroutine: yes
a fatal error in the script: yes
a fatal error in a coroutine: yes
a signal in the script: yes
a signal in a coroutine: yes
exec in the script: yes
exec in a coroutine: yes
