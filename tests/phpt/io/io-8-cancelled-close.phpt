--TEST--
IO-8 a close that is cancelled while it waits its turn leaves the handle to those behind it
--EXTENSIONS--
sockets
--FILE--
<?php
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';

set_error_handler(fn() => true); // a call that is made to fail warns
socket_create_pair(AF_UNIX, SOCK_STREAM, 0, $pair);
[$a, $b] = $pair;
$read = fn() => socket_read($a, 100);
$first = spawn($read);
T\parked($first);
$closer = spawn(fn() => socket_close($a));
$others = [spawn($read), spawn($read)];
suspend(); // all three stand in the queue now, and the first is told to fail
$closer->cancel();
T\failure($closer);
var_dump(await($first));
foreach (['one', 'two'] as $i => $text) {
    T\parked($others[$i]);
    socket_write($b, $text);
    var_dump(await($others[$i]));
}
?>
--EXPECT--
bool(false)
string(3) "one"
string(3) "two"
