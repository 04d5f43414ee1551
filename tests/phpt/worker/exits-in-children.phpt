--TEST--
A child that a request forks, in whichever of its coroutines, ends with the status of its exit
--EXTENSIONS--
pcntl
--FILE--
<?php
require __DIR__ . '/worker.inc';
use function Async\{await, group, spawn, withTimeout};

$server = S\worker(function () {
    $forks = function (): int {
        if (!($child = pcntl_fork())) {
            exit(5);
        }
        pcntl_waitpid($child, $status);
        return pcntl_wexitstatus($status);
    };
    echo match ($_SERVER['REQUEST_URI']) {
        '/handler' => $forks(),
        '/spawn' => await(spawn($forks)),
        '/group' => group($forks),
        '/withTimeout' => withTimeout(60_000, $forks),
    };
});
foreach (['/handler', '/spawn', '/group', '/withTimeout'] as $path) {
    echo "$path: ", S\get($server, $path), "\n";
}
$server->stop();
?>
--EXPECT--
/handler: 5
/spawn: 5
/group: 5
/withTimeout: 5
