--TEST--
IO-8 a persistent stream that is closed while another coroutine asks for one of its own is gone for the end of the request
--EXTENSIONS--
openssl
--FILE--
<?php
require __DIR__ . '/kit.inc';

// What is freed is overwritten, so that its use shows.
$dir = T\work_in(['code.php' => <<<'PHP'
    <?php
    use function Async\{spawn,await,suspend,delay};
    $server = stream_socket_server('tcp://127.0.0.1:0'); $addr = stream_socket_get_name($server, false);
    $held=[];
    spawn(function() use ($server, &$held) { $held[] = stream_socket_accept($server); $held[] = stream_socket_accept($server); $x = stream_socket_accept($server); fclose($x); });
    $p = stream_socket_client("tcp://$addr", $e, $s, 600, STREAM_CLIENT_CONNECT|STREAM_CLIENT_PERSISTENT, stream_context_create(['socket'=>['tcp_nodelay'=>true]]));
    suspend();
    $b = spawn(fn() => @stream_socket_client("ssl://$addr", $e, $s, 600, STREAM_CLIENT_CONNECT|STREAM_CLIENT_PERSISTENT));
    delay(50);
    $c = spawn(function() use ($addr, $p) {
        set_error_handler(function($n, $m) use ($p) { if (is_resource($p)) { echo "closing\n"; fclose($p); } });
        return stream_socket_client("ssl://$addr", $e, $s, 600, STREAM_CLIENT_CONNECT|STREAM_CLIENT_PERSISTENT);
    });
    await($c);
    $again = stream_socket_client("tcp://$addr", $e, $s, 600, STREAM_CLIENT_CONNECT|STREAM_CLIENT_PERSISTENT);
    echo get_resource_type($again), "\n";
    foreach ($held as $h) fclose($h);
    await($b);
    echo "done\n";
    PHP]);
$ended = T\command('env MALLOC_PERTURB_=165 ' . T\interpreter() . " $dir/code.php");
T\check('it ends well', (string) $ended === "[0] closing\npersistent stream\ndone\n", $ended);
?>
--EXPECT--
it ends well: yes
