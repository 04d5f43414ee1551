<?php

/** Serves the application of WORKER_MODE_APPLICATION, as WORKER_MODE says in worker mode or by 16 instances of it. Prints its address, and how many requests ran at once at most. */

use Async\Http\Server;
use function Async\{await, signal, spawn};

define('WORK', getenv('WORKER_MODE_FOLDER'));
$application = require __DIR__ . '/' . getenv('WORKER_MODE_APPLICATION') . '.php';
$at_once = $most = 0;
$handler = function () use ($application, &$at_once, &$most): void {
    $most = max($most, ++$at_once);
    register_shutdown_function(static function () use (&$at_once): void { $at_once--; });
    $application();
};
$server = (new Server())->listen('127.0.0.1:0');
getenv('WORKER_MODE') === 'application' ? $server->application(static fn () => $handler, 16) : $server->worker($handler);
spawn(function () use ($server) {
    await(signal(SIGTERM));
    $server->stop(10);
});
echo $server->address(), "\n";
$server->run();
echo "$most at once, $at_once left\n";
