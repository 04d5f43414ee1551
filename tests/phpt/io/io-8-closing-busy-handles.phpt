--TEST--
IO-8 closing what others are blocked on: their calls end, the closing takes effect, nothing is freed too early
--EXTENSIONS--
sockets
--FILE--
<?php
use function Async\spawn;

require __DIR__ . '/kit.inc';
set_error_handler(fn() => true);

$check = function(string $name, array $blocked, Closure $close) {
    T\parked(...$blocked);
    $start = hrtime(true);
    Async\await(spawn($close));
    $ends = [];
    foreach ($blocked as $b) {
        try {
            $ends[] = Async\await($b, Async\timeout(60_000));
        } catch (Async\AwaitCancelledException) {
            $ends[] = 'STILL BLOCKED';
        } catch (Throwable $e) {
            $ends[] = get_class($e);
        }
    }
    echo "$name: ", json_encode($ends), "\n";
};
$failed = fn($result) => $result === false || $result === '' || $result === null ? 'failed' : $result;

[$a, $b] = T\pair();
$check('fread', [spawn(fn() => $failed(fread($a, 100)))], fn() => fclose($a));
[$a, $b] = T\pair();
$check('three fgets', [spawn(fn() => $failed(fgets($a))), spawn(fn() => $failed(fgets($a))), spawn(fn() => $failed(fgets($a)))], fn() => fclose($a));
[$a, $b] = T\pair();
$check('fwrite', [spawn(function() use ($a) { $n = fwrite($a, str_repeat('x', 5_000_000)); return $n === false || $n < 5_000_000 ? 'failed' : 'all written'; })], fn() => fclose($a));
[$a, $b] = T\pair();
$check('stream_get_contents', [spawn(fn() => $failed(stream_get_contents($a)))], fn() => fclose($a));
[$server] = T\listener();
$check('accept', [spawn(fn() => $failed(stream_socket_accept($server, 600)))], fn() => fclose($server));
$listen = socket_create_listen(0);
$check('socket_accept', [spawn(fn() => $failed(socket_accept($listen)))], fn() => socket_close($listen));
socket_create_pair(AF_UNIX, SOCK_STREAM, 0, $pair);
$check('socket_read', [spawn(fn() => $failed(socket_read($pair[0], 100)))], fn() => socket_close($pair[0]));
// who waits its turn before the close may begin, but not wait
socket_create_pair(AF_UNIX, SOCK_STREAM, 0, $pair);
$read = fn() => $failed(socket_read($pair[0], 100));
$check('three socket_read', [spawn($read), spawn($read), spawn($read)], fn() => socket_close($pair[0]));
$p = popen('exec sleep 20', 'r');
$check('shutdown', [spawn(function() use (&$c, &$d, $failed) { [$c, $d] = T\pair(); return $failed(fread($c, 10)); })], function() use (&$c) { stream_socket_shutdown($c, STREAM_SHUT_RDWR); });
// the last variable goes while the call is under way
[$x, $y] = T\pair();
$reading = spawn(function() use (&$x) { $s = $x; return fgets($s); });
T\parked($reading);
$x = null;
fwrite($y, "still read\n");
echo Async\await($reading);

// what was opened on the same descriptor number afterwards is left alone
for ($i = 0; $i < 20; $i++) {
    [$a, $b] = T\pair();
    $r = spawn(fn() => $failed(fread($a, 100)));
    T\parked($r);
    fclose($a);
    [$c, $d] = T\pair();
    fwrite($d, 'fresh');
    fwrite($b, 'stale') ;
    $got[Async\await($r)][fread($c, 100)] = true;
}
echo json_encode($got), "\n";
proc_close(proc_open(['true'], [], $pipes));
?>
--EXPECT--
fread: ["failed"]
three fgets: ["failed","failed","failed"]
fwrite: ["failed"]
stream_get_contents: ["failed"]
accept: ["failed"]
socket_accept: ["failed"]
socket_read: ["failed"]
three socket_read: ["failed","failed","failed"]
shutdown: ["failed"]
still read
{"failed":{"fresh":true}}
