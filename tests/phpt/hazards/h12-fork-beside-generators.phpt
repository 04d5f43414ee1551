--TEST--
H12 a child of a fork ends as it would without coroutines, though generators were in the middle of a value in the parent
--EXTENSIONS--
pcntl
--FILE--
<?php
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';

$code = <<<'PHP'
    use function Async\{await, delay, spawn, suspend};
    register_shutdown_function(function () { echo "shutdown\n"; });
    function endless() { try { yield 1; while (true) suspend(); } finally { echo "FINALLY\n"; } }
    function delegates($to) { try { yield from $to; } finally { echo "FINALLY\n"; } }
    $generator = endless();
    spawn(function () use ($generator) { foreach ($generator as $value); });
    spawn(function () { foreach (delegates(endless()) as $value); });
    $flow = function () {
        global $generator;
        fflush(STDOUT);
        if (!($pid = pcntl_fork())) {
            unset($generator);
            CHILD
            return;
        }
        pcntl_waitpid($pid, $status);
        echo 'status ', pcntl_wifexited($status) ? pcntl_wexitstatus($status) : 'signal ' . pcntl_wtermsig($status), "\n";
        exit(9);
    };
    for ($i = 0; $i < 3; $i++) suspend();
    FLOW
    PHP;
foreach (['main' => '$flow();', 'a coroutine' => 'await(spawn($flow));'] as $who => $flow) {
    foreach (['exits' => 'exit(0);', 'exits later' => 'delay(5); exit(3);', 'goes on' => 'echo await(spawn(fn() => "goes on")), "\n";',
        'fails' => 'throw new Exception("of the child");'] as $how => $child) {
        $ended = T\php(strtr($code, ['CHILD' => $child, 'FLOW' => $flow]), '-d display_errors=0 -d log_errors=0');
        echo "$who forks, the child $how: ", str_replace("\n", ' ', rtrim($ended)), "\n";
    }
}
?>
--EXPECT--
main forks, the child exits: [9] shutdown status 0 shutdown
main forks, the child exits later: [9] shutdown status 3 shutdown
main forks, the child goes on: [9] goes on shutdown status 0 shutdown
main forks, the child fails: [9] shutdown status 255 shutdown
a coroutine forks, the child exits: [9] shutdown status 0 shutdown
a coroutine forks, the child exits later: [9] shutdown status 3 shutdown
a coroutine forks, the child goes on: [9] goes on shutdown status 0 shutdown
a coroutine forks, the child fails: [9] shutdown status 255 shutdown
