--TEST--
IO-8 who closes a busy handle while another one is about to close it has it closed, too; once it is closed it is the error that it is
--INI--
async.seed=0
--FILE--
<?php
use function Async\{await, delay, spawn, suspend};

$server = stream_socket_server('tcp://127.0.0.1:0');
$accepting = spawn(function () use ($server) {
    try {
        var_dump(@stream_socket_accept($server, 60));
    } finally {
        // The other one waits for this coroutine's call to end before it closes.
        var_dump(is_resource($server));
        var_dump(fclose($server));
    }
});
while (!$accepting->isSuspended()) {
    suspend();
}
var_dump(fclose($server));
await($accepting);
try {
    fclose($server);
} catch (TypeError $e) {
    echo $e->getMessage(), "\n";
}

[$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
$reading = spawn(fn () => fgets($a));
while (!$reading->isSuspended()) {
    suspend();
}
$closers = [spawn(fn () => fclose($a)), spawn(fn () => fclose($a)), spawn(fn () => fclose($a))];
echo json_encode([await($reading), ...array_map('Async\await', $closers)]), "\n";
?>
--EXPECTF--
bool(false)
bool(true)
bool(true)
bool(true)
%r(fclose\(\): .* is not a valid stream resource|fclose\(\): Argument #1 \(\$stream\) must be an open stream resource)%r
[false,true,true,true]
