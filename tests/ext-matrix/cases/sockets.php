<?php
// needs: peer ext:sockets
// ext/sockets
namespace Matrix;

function tcp_socket(): \Socket
{
    $socket = \socket_create(AF_INET, SOCK_STREAM, SOL_TCP);
    \socket_connect($socket, '127.0.0.1', (int) env('MATRIX_LINE_PORT'));
    return $socket;
}

matrix('tcp', function (int $i): array {
    $socket = tcp_socket();
    $sent = \socket_write($socket, ms() . " tcp $i\n");
    return [$sent > 0, \socket_read($socket, 100, PHP_NORMAL_READ), \socket_last_error($socket)];
});

matrix('unix', function (int $i): array {
    $socket = \socket_create(AF_UNIX, SOCK_STREAM, 0);
    \socket_connect($socket, env('MATRIX_LINE_SOCKET'));
    \socket_write($socket, ms() . " unix $i\n");
    return [\socket_recv($socket, $data, 100, 0), $data];
});

matrix('MSG_WAITALL', function (int $i): array {
    $socket = tcp_socket();
    \socket_write($socket, ms(250) . " abc\n" . ms(500) . " defgh\n");
    return [\socket_recv($socket, $data, 10, MSG_WAITALL), $data];
});

matrix('MSG_PEEK and MSG_DONTWAIT', function (int $i): array {
    $socket = tcp_socket();
    \socket_write($socket, ms() . " peek $i\n");
    $early = @\socket_recv($socket, $data, 100, MSG_DONTWAIT);
    $error = \socket_last_error($socket);
    return [$early, $error === SOCKET_EAGAIN, \socket_recv($socket, $peeked, 100, MSG_PEEK), \socket_recv($socket, $data, 100, 0), $peeked === $data];
});

matrix('udp', function (int $i): array {
    $server = \socket_create(AF_INET, SOCK_DGRAM, SOL_UDP);
    \socket_bind($server, '127.0.0.1', 0);
    \socket_getsockname($server, $host, $port);
    $client = beside(function () use ($host, $port, $i): string {
        $socket = \socket_create(AF_INET, SOCK_DGRAM, SOL_UDP);
        \usleep(ms() * 1000);
        \socket_sendto($socket, "udp $i", 100, 0, $host, $port);
        \socket_recvfrom($socket, $data, 100, 0, $from, $from_port);
        return $data;
    });
    $length = \socket_recvfrom($server, $data, 100, 0, $from, $from_port);
    \socket_sendto($server, \strtoupper($data), 100, 0, $from, $from_port);
    return [$length, $data, $client()];
});

matrix('SO_RCVTIMEO', function (int $i): array {
    $socket = tcp_socket();
    \socket_set_option($socket, SOL_SOCKET, SO_RCVTIMEO, ['sec' => 0, 'usec' => ms() * 1000]);
    $start = \hrtime(true);
    $data = @\socket_read($socket, 100);
    $waited = (\hrtime(true) - $start) / 1e6;
    // the kernel counts in ticks of up to 10 ms
    return [$data, \socket_last_error($socket) === SOCKET_EAGAIN, $waited >= ms() - 10];
});

matrix('SO_SNDTIMEO', function (int $i): array {
    \socket_create_pair(AF_UNIX, SOCK_STREAM, 0, $pair);
    \socket_set_option($pair[0], SOL_SOCKET, SO_SNDTIMEO, ['sec' => 0, 'usec' => ms() * 1000]);
    $data = \str_repeat('x', 4_000_000);
    $first = @\socket_send($pair[0], $data, \strlen($data), 0);
    $second = @\socket_send($pair[0], $data, \strlen($data), 0);
    return [$first > 0 && $first < 4_000_000, $second, \socket_last_error($pair[0]) === SOCKET_EAGAIN];
}, n: 5);

matrix('socket_select', function (int $i): array {
    $slow = tcp_socket();
    $fast = tcp_socket();
    \socket_write($slow, (is_async() ? 500 : 60) . " slow $i\n");
    \socket_write($fast, ms(250) . " fast $i\n");
    $answers = [];
    $sockets = ['slow' => $slow, 'fast' => $fast];
    while ($sockets) {
        $read = $sockets;
        $write = $except = null;
        $count = \socket_select($read, $write, $except, 10);
        foreach ($read as $name => $socket) {
            $answers[$name] = [$count === \count($read), \socket_read($socket, 100)];
            unset($sockets[$name]);
        }
    }
    \ksort($answers); // a machine that stood still has both at once
    return $answers;
});

matrix('socket_select that times out', function (int $i): array {
    $read = [tcp_socket()];
    $write = $except = null;
    return [\socket_select($read, $write, $except, 0, ms() * 1000), $read];
});

matrix('a slow reader', function (int $i): array {
    $socket = tcp_socket();
    $data = \str_repeat("slow reader $i ", 1_000_000);
    \socket_write($socket, 'sink ' . ms(300) . ' ' . \strlen($data) . "\n");
    $sent = \socket_write($socket, $data);
    return [$sent === \strlen($data), \socket_read($socket, 100) === \md5($data) . "\n"];
}, n: 4, ms: 300);

matrix('accept', function (int $i): array {
    $server = \socket_create_listen(0);
    \socket_getsockname($server, $host, $port);
    $client = beside(function () use ($port, $i): string {
        \usleep(ms() * 1000);
        $socket = \socket_create(AF_INET, SOCK_STREAM, SOL_TCP);
        \socket_connect($socket, '127.0.0.1', $port);
        \socket_write($socket, "hello $i\n");
        return \socket_read($socket, 100);
    });
    $socket = \socket_accept($server);
    $line = \socket_read($socket, 100);
    \socket_write($socket, "welcome, $line");
    return [$line, $client()];
});

matrix('sendmsg with a descriptor', function (int $i): array {
    \socket_create_pair(AF_UNIX, SOCK_STREAM, 0, $pair);
    $sender = beside(function () use ($pair, $i): int {
        \file_put_contents($name = scratch('passed'), "content $i");
        \usleep(ms() * 1000);
        return \socket_sendmsg($pair[0], ['iov' => ["fd of $i"],
            'control' => [['level' => SOL_SOCKET, 'type' => SCM_RIGHTS, 'data' => [\fopen($name, 'r')]]]]);
    });
    $message = ['buffer_size' => 100, 'controllen' => \socket_cmsg_space(SOL_SOCKET, SCM_RIGHTS, 1)];
    $length = \socket_recvmsg($pair[1], $message);
    return [$length, $message['iov'], \stream_get_contents($message['control'][0]['data'][0], null, 0), $sender()];
});

matrix('a refused connection', function (int $i): array {
    $socket = \socket_create(AF_INET, SOCK_STREAM, SOL_TCP);
    return [@\socket_connect($socket, '127.0.0.1', 1), \socket_last_error($socket) === SOCKET_ECONNREFUSED];
}, n: 5, evidence: 'switch');
