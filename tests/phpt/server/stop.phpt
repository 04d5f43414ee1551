--TEST--
Async\Http: a server is stopped, and its run() is cancelled
--FILE--
<?php
require __DIR__ . '/server.inc';

use Async\Http\{Request, Server, ServerStopped};
use function Async\{await, delay, spawn};

$gate = false;
$log = [];
$handler = function(Request $r) use (&$gate, &$log) {
    try {
        while (!$gate) delay(1);
        return 'answered';
    } catch (Throwable $e) {
        $log[] = $e::class;
        throw $e;
    }
};

echo "-- what runs is answered\n";
$server = (new Server)->listen('127.0.0.1:0')->handle($handler);
$run = spawn($server->run(...));
$answer = spawn(fn() => S\send($server, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
T\until(fn() => $server->stats()['running'] === 1);
$server->stop();
T\until(fn() => @S\connect($server) === false);
echo "listens no more\n";
$gate = true;
$text = await($answer);
echo S\body($text), str_contains($text, 'connection: close') ? " and closed\n" : "\n";
await($run);
echo json_encode($log), "\n";

echo "-- what takes too long is cancelled\n";
$gate = false;
$server = (new Server)->listen('127.0.0.1:0')->handle($handler);
$run = spawn($server->run(...));
$answer = spawn(fn() => S\send($server, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
T\until(fn() => $server->stats()['running'] === 1);
$server->stop(0.01);
echo S\status(await($answer)), "\n";
await($run);
echo json_encode($log), "\n";

echo "-- run() is cancelled\n";
$log = [];
$server = (new Server)->listen('127.0.0.1:0')->handle($handler);
$run = spawn($server->run(...));
$client = S\connect($server);
fwrite($client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
T\until(fn() => $server->stats()['running'] === 1);
$run->cancel();
echo json_encode(stream_get_contents($client)), "\n";
try { await($run); } catch (Async\CancellationException $e) { echo 'cancelled', "\n"; }
T\until(fn() => $GLOBALS['log'] !== []);
echo json_encode($log), "\n";
echo S\refused(fn() => $server->run()), "\n";

echo "-- what cannot run\n";
echo S\refused(fn() => (new Server)->run()), "\n";
echo S\refused(fn() => (new Server)->handle(fn() => '')->run()), "\n";
echo S\refused(fn() => (new Server)->listen('127.0.0.1:0')->run()), "\n";
echo S\refused(fn() => (new Server)->address()), "\n";
$taken = (new Server)->listen('127.0.0.1:0');
// C libraries word it differently.
$refused = fn(Closure $listen) => str_replace('Address in use', 'Address already in use', preg_replace('/:\d+/', ':N', S\refused($listen)));
echo $refused(fn() => (new Server)->listen($taken->address())), "\n";
echo $refused(fn() => (new Server)->listen($taken->address(), reusePort: true)), "\n";
$shared = (new Server)->listen('127.0.0.1:0', reusePort: true);
var_dump((new Server)->listen($shared->address(), reusePort: true)->address() === $shared->address());
echo $refused(fn() => (new Server)->listen($shared->address())), "\n";
echo S\refused(fn() => (new Server)->listen('unix:/tmp/x', reusePort: true)), "\n";
foreach (['', 'x', '127.0.0.1', '127.0.0.1:99999', '::1:80', 'unix:', 'fd:x', 'fd:-1', '127.0.0.1:-1'] as $address) {
    echo S\refused(fn() => (new Server)->listen($address)), "\n";
}
echo S\refused(fn() => (new Server)->listen('fd:9999')), "\n";
echo S\refused(fn() => (new Server)->listen('unix:/nowhere/at/all')), "\n";
foreach ([['x' => 1], ['max_body_size' => -1], ['max_body_size' => '5'], ['keep_alive' => -0.5], ['keep_alive' => NAN], ['max_concurrency' => 0], [5]] as $options) {
    echo S\refused(fn() => new Server($options)), "\n";
}
echo S\refused(fn() => $taken->stop(-1)), "\n";

echo "-- a Unix socket\n";
T\work_in();
$path = getcwd() . '/socket';
$server = (new Server)->listen("unix:$path")->handle(fn(Request $r) => "[{$r->clientAddress()}]");
$run = spawn($server->run(...));
$client = stream_socket_client("unix://$path");
fwrite($client, S\request('GET', '/'));
echo S\body(stream_get_contents($client)), "\n";
$server->stop();
await($run);
var_dump(file_exists($path));
?>
--EXPECT--
-- what runs is answered
listens no more
answered and closed
[]
-- what takes too long is cancelled
503
["Async\\Http\\ServerStopped"]
-- run() is cancelled
""
cancelled
["Async\\Http\\ServerStopped"]
Async\Http\ServerException: The server runs already, or was stopped
-- what cannot run
Async\Http\ServerException: There is no handler: call handle() before
Async\Http\ServerException: The server listens nowhere: call listen() before
Async\Http\ServerException: There is no handler: call handle() before
Async\Http\ServerException: The server listens nowhere: call listen() before
Async\Http\ServerException: Cannot listen at 127.0.0.1:N: Address already in use (os error 98)
Async\Http\ServerException: Cannot listen at 127.0.0.1:N: Address already in use (os error 98)
bool(true)
Async\Http\ServerException: Cannot listen at 127.0.0.1:N: Address already in use (os error 98)
ValueError: Only a port can be shared by $reusePort, and "unix:/tmp/x" is none
ValueError: "" is no address to listen at: "host:port", "unix:/path" or "fd:3"
ValueError: "x" is no address to listen at: "host:port", "unix:/path" or "fd:3"
ValueError: "127.0.0.1" is no address to listen at: "host:port", "unix:/path" or "fd:3"
ValueError: "127.0.0.1:99999" is no address to listen at: "host:port", "unix:/path" or "fd:3"
ValueError: "::1:80" is no address to listen at: "host:port", "unix:/path" or "fd:3"
ValueError: "unix:" is no address to listen at: "host:port", "unix:/path" or "fd:3"
ValueError: "fd:x" is no address to listen at: "host:port", "unix:/path" or "fd:3"
ValueError: "fd:-1" is no address to listen at: "host:port", "unix:/path" or "fd:3"
ValueError: "127.0.0.1:-1" is no address to listen at: "host:port", "unix:/path" or "fd:3"
Async\Http\ServerException: Cannot listen at fd:9999: Bad file descriptor (os error 9)
Async\Http\ServerException: Cannot listen at unix:/nowhere/at/all: No such file or directory (os error 2)
ValueError: There is no option "x"
ValueError: The option "max_body_size" must be an int of at least 0
ValueError: The option "max_body_size" must be an int of at least 0
ValueError: The option "keep_alive" must be a number of seconds, 0 for no limit
ValueError: The option "keep_alive" must be a number of seconds, 0 for no limit
ValueError: The option "max_concurrency" must be an int of at least 1
ValueError: There is no option ""
ValueError: Server::stop(): Argument #1 ($grace) must be a number of seconds
-- a Unix socket
[]
bool(false)
