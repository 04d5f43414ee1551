--TEST--
A server that has got to the signals that ask it to end may compute, however many there were, and also after its stop
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/server/server.inc';

$program = <<<'PHP'
    function compute() { // for longer than a signal may wait
        for ($begin = hrtime(true); hrtime(true) - $begin < 3e9;);
    }
    $server = (new Async\Http\Server(['request_timeout' => 0]))->listen('127.0.0.1:0');
    $server->handle(function ($request) {
        if ($request->path() === '/computes') {
            compute();
            return 'computed';
        }
        try {
            echo "waits\n";
            Async\delay(1000000);
        } finally {
            compute();
            echo "cleaned up\n";
        }
    });
    Async\spawn(function () use ($server) {
        $next = Async\signal(2);
        print($server->address() . "\n");
        for ($count = 1; $count <= 3; $count++) {
            Async\await($next);
            $next = Async\signal(2); // before the next one may come
            echo "signal $count\n";
        }
        $server->stop(0);
    });
    $server->run();
    PHP;
$command = 'exec ' . T\interpreter('-r ' . escapeshellarg($program));
$process = proc_open($command, [['file', '/dev/null', 'r'], ['pipe', 'w'], ['pipe', 'w']], $pipes);
$address = 'tcp://' . trim(fgets($pipes[1]));
$signal = function () use ($process, $pipes) {
    proc_terminate($process, 2);
    echo fgets($pipes[1]);
};
$signal();
$signal();
$client = stream_socket_client($address);
fwrite($client, S\request('GET', '/computes'));
echo S\body(stream_get_contents($client)), "\n";
$client = stream_socket_client($address);
fwrite($client, S\request('GET', '/waits'));
echo fgets($pipes[1]);
$signal();
echo stream_get_contents($pipes[1]), stream_get_contents($pipes[2]);
var_dump(proc_close($process));
?>
--EXPECT--
signal 1
signal 2
computed
waits
signal 3
cleaned up
int(0)
