<?php

/** Serves the application of WORKER_MODE_APPLICATION, as WORKER_MODE says in worker mode or by 16 instances of it. Prints its address, and how many requests ran at once at most. */

use Async\Http\Server;
use function Async\{await, signal, spawn};

define('WORK', getenv('WORKER_MODE_FOLDER'));
$at_once = $most = 0;
$counted = function (callable $handler) use (&$at_once, &$most): Closure {
    return function () use ($handler, &$at_once, &$most): void {
        $most = max($most, ++$at_once);
        register_shutdown_function(static function () use (&$at_once): void { $at_once--; });
        $handler();
    };
};
$name = getenv('WORKER_MODE_APPLICATION');
if ($name === 'symfony_runtime') {
    $argv = ['serve.php', WORK . '/symfony/public/index.php'];
    $boot = require dirname(__DIR__, 3) . '/packages/symfony/serve.php';
} elseif ($name === 'laravel') {
    chdir(WORK . '/laravel');
    $boot = require dirname(__DIR__, 3) . '/packages/laravel/serve.php';
} elseif (str_starts_with($name, 'psr15_')) {
    $boot = (require __DIR__ . '/psr15.php')(substr($name, 6));
} else {
    $handler = require __DIR__ . "/$name.php";
    $boot = static fn () => $handler;
}
// On a busy machine some wait for longer than requests do usually.
$server = (new Server(['queue_timeout' => 0]))->listen('127.0.0.1:0');
getenv('WORKER_MODE') === 'application' ? $server->application(static fn (int $instance) => $counted($boot($instance)), 16) : $server->worker($counted($boot(0)));
spawn(function () use ($server) {
    await(signal(SIGTERM));
    $server->stop(10);
});
echo $server->address(), "\n";
$server->run();
echo "$most at once, $at_once left\n";
