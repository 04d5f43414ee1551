<?php
// needs: ext:sockets
namespace Matrix;

return ['work' => function (int $copy): array {
    $server = must(\socket_create(AF_INET, SOCK_STREAM, SOL_TCP), 'socket_create');
    must(\socket_bind($server, '127.0.0.1', 0) && \socket_listen($server, 5), 'socket_bind, socket_listen');
    \socket_getsockname($server, $host, $port);
    $client = must(\socket_create(AF_INET, SOCK_STREAM, SOL_TCP), 'socket_create');
    must(\socket_connect($client, $host, $port), 'socket_connect');
    $accepted = must(\socket_accept($server), 'socket_accept');
    $data = \str_repeat("data $copy ", 1000);
    for ($left = $data; $left !== '';) {
        $left = \substr($left, must(\socket_write($client, $left), 'socket_write'));
    }
    must(\socket_shutdown($client, 1), 'socket_shutdown');
    $got = '';
    while (($part = must(\socket_read($accepted, 4096), 'socket_read')) !== '') {
        $got .= $part;
    }
    $udp = must(\socket_create(AF_INET, SOCK_DGRAM, SOL_UDP), 'socket_create');
    must(\socket_bind($udp, '127.0.0.1', 0), 'socket_bind');
    \socket_getsockname($udp, $host, $port);
    must(\socket_sendto($udp, "datagram $copy", 20, 0, $host, $port), 'socket_sendto');
    must(\socket_recvfrom($udp, $datagram, 100, 0, $from, $from_port), 'socket_recvfrom');
    return [\strlen($got), \md5($got), $datagram];
}];
