--TEST--
Worker mode: a request whose client has left goes on, until its time has passed or that of a stop
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/worker/worker.inc';

use function Async\{await, delay, spawn};

$log = [];
$handler = function () use (&$log) {
    $log[] = 'called';
    if (isset($_GET['finish'])) {
        Async\Http\finish();
    }
    try {
        delay(600_000);
    } catch (Async\CancellationException $e) {
        $log[] = get_class($e) . ', aborted ' . connection_aborted();
        throw $e;
    }
};

/** Has a client ask, and leave. */
function asks_and_leaves(Async\Http\Server $server, string $target): void
{
    global $log;
    $log = [];
    $client = S\connect($server);
    fwrite($client, "GET $target HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
    T\until(fn() => $GLOBALS['log'] !== []);
    fclose($client);
    T\until(fn() => $server->stats()['connections'] === 0);
}

$server = S\worker($handler, ['request_timeout' => 0.3, 'idle_grace' => 0]);
asks_and_leaves($server, '/');
T\until(fn() => $server->stats()['running'] === 0);
echo implode(', ', $log), "\n";
$server->stop();
foreach (['/', '/?finish'] as $target) {
    $server = (new Async\Http\Server(['request_timeout' => 0]))->listen('127.0.0.1:0')->worker($handler);
    $run = spawn($server->run(...));
    asks_and_leaves($server, $target);
    echo count($log), " at first\n";
    $server->stop(0.1);
    await($run);
    echo implode(', ', $log), "\n";
}
?>
--EXPECT--
called, Async\Http\RequestTimeout, aborted 1
1 at first
called, Async\Http\ServerStopped, aborted 1
1 at first
called, Async\Http\ServerStopped, aborted 0
