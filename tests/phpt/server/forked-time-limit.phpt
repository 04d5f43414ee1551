--TEST--
Async\Http: a time limit that is set in a child that a handler has forked ends the child, as in any process
--SKIPIF--
<?php extension_loaded('pcntl') || die('skip: needs pcntl');
--FILE--
<?php
require __DIR__ . '/server.inc';

ini_set('display_errors', '0');
ini_set('log_errors', '0');
$compute = function () {
    set_time_limit(1);
    for ($begin = hrtime(true); hrtime(true) - $begin < T\LIMIT * 1e9;); // never so long
    exit(0);
};
$fork = function () use ($compute): string {
    $child = pcntl_fork();
    if ($child === 0) {
        $compute();
    }
    pcntl_waitpid($child, $status);
    return (string) pcntl_wexitstatus($status);
};
$handler = S\serve(fn($request) => $fork());
$worker = (new Async\Http\Server())->listen('127.0.0.1:0')->worker(function () use ($fork) { echo $fork(); });
Async\spawn($worker->run(...));
foreach ([$handler, $worker] as $server) {
    echo S\get($server, '/'), "\n";
    $server->stop();
}
?>
--EXPECT--
255
255
