--TEST--
H7 a signal whose handler is to restart calls interrupts none
--EXTENSIONS--
pcntl
posix
sockets
--FILE--
<?php
use function Async\{await, spawn};

require __DIR__ . '/kit.inc';

$handled = false;
pcntl_async_signals(true);
pcntl_signal(SIGUSR1, function() use (&$handled) { $handled = true; });
socket_create_pair(AF_UNIX, SOCK_STREAM, 0, $pair);
$other = spawn(function() use (&$handled, $pair) {
    exec('kill -USR1 ' . getmypid()); // by a process of its own
    T\check('handled', T\until(function() use (&$handled) { return $handled; }));
    socket_write($pair[1], 'sent later');
});
var_dump(socket_read($pair[0], 100));
await($other);
?>
--EXPECT--
handled: yes
string(10) "sent later"
