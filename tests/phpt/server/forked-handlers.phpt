--TEST--
Async\Http: a child that a handler has forked ends with the status of its exit, or with 255 after an exception
--SKIPIF--
<?php extension_loaded('pcntl') || die('skip: needs pcntl');
--FILE--
<?php
require __DIR__ . '/server.inc';

use Async\Http\Server;

ini_set('display_errors', '0');
ini_set('log_errors', '0');
$fork = function (string $how): string {
    $child = pcntl_fork();
    if ($child === 0) {
        match ($how) {
            'exits' => exit(3),
            'exits-deep' => Async\await(Async\spawn(fn() => exit(4))),
            'throws' => throw new DomainException,
            'handles' => [set_exception_handler(function () {}), throw new DomainException],
            'returns' => null,
        };
        return 'of the child';
    }
    pcntl_waitpid($child, $status);
    return "$how: " . pcntl_wexitstatus($status);
};
$handler = S\serve(fn($request) => $fork($request->query('how')));
$worker = (new Server())->listen('127.0.0.1:0')->worker(function () use ($fork) { echo $fork($_GET['how']); });
Async\spawn($worker->run(...));
foreach (['handler' => $handler, 'worker' => $worker] as $mode => $server) {
    foreach (['exits', 'exits-deep', 'throws', 'handles', 'returns', 'exits'] as $how) {
        echo "$mode: ", S\get($server, "/?how=$how"), "\n";
    }
    $server->stop();
}
?>
--EXPECT--
handler: exits: 3
handler: exits-deep: 4
handler: throws: 255
handler: handles: 255
handler: returns: 0
handler: exits: 3
worker: exits: 3
worker: exits-deep: 4
worker: throws: 255
worker: handles: 255
worker: returns: 0
worker: exits: 3
