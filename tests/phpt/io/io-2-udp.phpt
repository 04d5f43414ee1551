--TEST--
IO-2 UDP with streams and ext/sockets: datagrams stay whole, senders are told, timeouts hold
--EXTENSIONS--
sockets
--FILE--
<?php
use function Async\spawn;

require __DIR__ . '/kit.inc';

[$server, $address] = T\listener('udp');
$serving = spawn(function() use ($server) {
    while (true) {
        $data = stream_socket_recvfrom($server, 65_000, 0, $peer);
        stream_socket_sendto($server, strrev($data), 0, $peer);
    }
});
$jobs = [];
for ($i = 0; $i < 10; $i++) {
    $jobs["stream $i"] = spawn(function() use ($address, $i) {
        $s = stream_socket_client($address);
        fwrite($s, str_repeat("$i", 1000));
        return fread($s, 8192) === str_repeat("$i", 1000);
    });
    $jobs["socket $i"] = spawn(function() use ($address, $i) {
        $s = socket_create(AF_INET, SOCK_DGRAM, SOL_UDP);
        [$host, $port] = explode(':', substr($address, 6));
        socket_sendto($s, "socket $i", 100, 0, $host, (int) $port);
        $n = socket_recvfrom($s, $buffer, 100, 0, $from, $fromPort);
        return $n === 8 && $buffer === strrev("socket $i") && $fromPort === (int) $port;
    });
}
T\check('all', array_unique(T\all($jobs)) === ['stream 0' => true]);

// others run while it waits
$ticks = new T\Ticks;
$waits = spawn(function() { socket_bind($s = socket_create(AF_INET, SOCK_DGRAM, SOL_UDP), '127.0.0.1', 0); @socket_recvfrom($s, $buffer, 100, 0, $from, $port); });
T\parked($waits);
T\check('ticking', $ticks->more() && $waits->isSuspended());
$ticks->stop();
$waits->cancel();

// SO_RCVTIMEO: EAGAIN after the time
[$result, $error, $ms] = Async\await(spawn(function() {
    $s = socket_create(AF_INET, SOCK_DGRAM, SOL_UDP);
    socket_bind($s, '127.0.0.1', 0);
    socket_set_option($s, SOL_SOCKET, SO_RCVTIMEO, ['sec' => 0, 'usec' => 60_000]);
    $start = hrtime(true);
    return [@socket_recvfrom($s, $buffer, 100, 0, $from, $port), socket_last_error($s), T\ms($start)];
}));
var_dump($result, $error === SOCKET_EAGAIN);
T\check('timeout', $ms >= 59, $ms);
$serving->cancel();
?>
--EXPECT--
all: yes
ticking: yes
bool(false)
bool(true)
timeout: yes
