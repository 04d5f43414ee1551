--TEST--
CORO-13 in shutdown functions nothing is concurrent any more: spawn() never executes, suspend() returns, blocking calls block
--FILE--
<?php
use function Async\{await, currentCoroutine, delay, getCoroutines, spawn, suspend, timeout};

register_shutdown_function(function() {
    echo "first\n";
    try {
        $never = spawn(function() { echo "NOT REACHED\n"; });
    } catch (Throwable $e) {
        $never = null;
    }
    suspend();
    $start = hrtime(true);
    usleep(20_000);
    var_dump(hrtime(true) - $start >= 20_000_000);
    [$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    fwrite($b, "through a socket\n");
    echo fgets($a), shell_exec('echo from a shell');
    if ($never) {
        try {
            await($never, timeout(100));
            echo "it has a result?\n";
        } catch (Throwable) {
        }
    }
    suspend();
    register_shutdown_function(function() { suspend(); echo "third\n"; });
});
register_shutdown_function(function() { echo "second\n"; });

spawn(function() { delay(20); echo "coroutine\n"; });
final class AtTheEnd
{
    public function __destruct()
    {
        suspend();
        try { spawn(fn() => print("NOT REACHED\n")); } catch (Throwable) {}
        echo "destructor\n";
    }
}
$object = new AtTheEnd;
?>
--EXPECT--
coroutine
first
bool(true)
through a socket
from a shell
second
third
destructor
