--TEST--
IO-8 a close that is cancelled while it waits its turn leaves the handle to those behind it
--EXTENSIONS--
sockets
--FILE--
<?php
use function Async\{await, spawn};

require __DIR__ . '/kit.inc';

// a call that is made to fail warns, and keeps the handle till the handler has returned
set_error_handler(function() use (&$closer) { T\ended($closer); return true; });
socket_create_pair(AF_UNIX, SOCK_STREAM, 0, $pair);
[$a, $b] = $pair;
$read = fn() => socket_read($a, 100);
$first = spawn($read);
T\parked($first);
$closer = spawn(fn() => socket_close($a));
T\begun($closer);
$others = [];
for ($i = 0; $i < 2; $i++) {
    $others[$i] = spawn($read);
    T\begun($others[$i]);
}
// all three stand in the queue now, and the first is told to fail
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
