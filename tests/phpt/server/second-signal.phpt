--TEST--
A server that is told to end twice, and computes instead, ends with a line that says where it was
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/server/server.inc';

$program = <<<'PHP'
    $server = (new Async\Http\Server(['request_timeout' => 0]))->listen('127.0.0.1:0');
    $server->handle(function () {
        echo "computes\n";
        for (;;);
    });
    Async\spawn(function () use ($server) { Async\awaitAny([Async\signal(15), Async\signal(2)]); $server->stop(); });
    Async\spawn(fn() => print($server->address() . "\n"));
    $server->run();
    PHP;
$command = 'exec ' . T\interpreter('-r ' . escapeshellarg($program));
$process = proc_open($command, [['file', '/dev/null', 'r'], ['pipe', 'w'], ['pipe', 'w']], $pipes);
$client = stream_socket_client('tcp://' . trim(fgets($pipes[1])));
fwrite($client, S\request('GET', '/a/path?and=query'));
echo fgets($pipes[1]);
proc_terminate($process, 15);
proc_terminate($process, 2); // of two of one kind the second may come too soon to be another one
echo stream_get_contents($pipes[2]);
var_dump(proc_close($process));
?>
--EXPECTF--
computes
Spindle: ended by a signal, which the event loop did not get to: coroutine #%d (GET /a/path?and=query, request %x) computes in Command line code on line 4
int(1)
