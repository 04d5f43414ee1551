<?php
// needs: peer ext:sockets ext:posix
// ext/sockets beyond single calls.
namespace Matrix;

/** A socket of this end, and the address of its own. */
function udp_socket(): array
{
    $socket = \socket_create(AF_INET, SOCK_DGRAM, SOL_UDP);
    \socket_bind($socket, '127.0.0.1', 0);
    \socket_getsockname($socket, $host, $port);
    return [$socket, $host, $port];
}

matrix('many datagrams, and their borders', function (int $i): array {
    [$server, $host, $port] = udp_socket();
    $other = beside(function () use ($host, $port, $i): array {
        $socket = \socket_create(AF_INET, SOCK_DGRAM, SOL_UDP);
        \socket_connect($socket, $host, $port);
        $sent = [];
        foreach ([1, 100, 0, 9000, 3] as $size) {
            \usleep(ms(60) * 1000);
            $sent[] = \socket_send($socket, \str_repeat(\chr(97 + $i), $size), $size, 0);
        }
        return $sent;
    });
    $sizes = [];
    for ($n = 0; $n < 5; $n++) {
        // the fourth one does not fit: what is left of it is lost
        $sizes[] = [\socket_recvfrom($server, $data, 4000, 0, $from, $from_port), $data === \str_repeat(\chr(97 + $i), \strlen($data)), $from];
    }
    return [$sizes, $other()];
}, n: 6, ms: 300);

matrix('Unix datagrams', function (int $i): array {
    $make = function (): array {
        $socket = \socket_create(AF_UNIX, SOCK_DGRAM, 0);
        \socket_bind($socket, $path = scratch('s'));
        return [$socket, $path];
    };
    [$server, $path] = $make();
    $other = beside(function () use ($make, $path, $i): array {
        [$client] = $make();
        \usleep(ms(300) * 1000);
        $sent = \socket_sendto($client, "question $i", 100, 0, $path);
        \socket_recvfrom($client, $data, 100, 0, $from);
        return [$sent, $data, $from === $path];
    });
    $length = \socket_recvfrom($server, $data, 100, 0, $from);
    \socket_sendto($server, "answer to $data", 100, 0, $from);
    return [$length, $data, $other()];
}, n: 6, ms: 300);

matrix('a full queue of Unix datagrams', function (int $i): array {
    \socket_create_pair(AF_UNIX, SOCK_DGRAM, 0, $pair);
    $other = beside(function () use ($pair): int {
        \usleep(ms(300) * 1000);
        for ($n = 0; $n < 200; $n++) {
            \socket_recv($pair[1], $data, 100, 0) === 4 && (int) $data === $n or expect(false, "datagram $n is '$data'");
        }
        return $n;
    });
    for ($n = 0; $n < 200; $n++) {
        \socket_send($pair[0], \sprintf('%04d', $n), 4, 0);
    }
    return [$n, $other()];
}, n: 6, ms: 300);

matrix('a Unix stream with credentials and several descriptors', function (int $i): array {
    \socket_create_pair(AF_UNIX, SOCK_STREAM, 0, $pair);
    \socket_set_option($pair[1], SOL_SOCKET, SO_PASSCRED, 1);
    $other = beside(function () use ($pair, $i): array {
        $files = [];
        foreach (['one', 'two', 'three'] as $word) {
            \file_put_contents($name = scratch('passed'), "$word of $i");
            $files[] = \fopen($name, 'r');
        }
        $sent = [];
        foreach ([[0, 1], [2]] as $which) {
            \usleep(ms(150) * 1000);
            $sent[] = \socket_sendmsg($pair[0], ['iov' => ['part ', "of $i"], 'control' => [
                ['level' => SOL_SOCKET, 'type' => SCM_RIGHTS, 'data' => \array_map(fn($n) => $files[$n], $which)],
                ['level' => SOL_SOCKET, 'type' => SCM_CREDENTIALS, 'data' => ['pid' => \getmypid(), 'uid' => \posix_getuid(), 'gid' => \posix_getgid()]],
            ]]);
        }
        return $sent;
    });
    $got = [];
    for ($n = 0; $n < 2; $n++) {
        $message = ['buffer_size' => 100, 'controllen' => \socket_cmsg_space(SOL_SOCKET, SCM_RIGHTS, 2) + \socket_cmsg_space(SOL_SOCKET, SCM_CREDENTIALS)];
        $length = \socket_recvmsg($pair[1], $message);
        $parts = [];
        foreach ($message['control'] as $control) {
            $parts[] = $control['type'] === SCM_RIGHTS
                ? \array_map(fn($file) => \stream_get_contents($file, null, 0), $control['data'])
                : $control['data']['uid'] === \posix_getuid();
        }
        \sort($parts);
        $got[] = [$length, $message['iov'], $parts];
    }
    return [$got, $other()];
}, n: 6, ms: 300);

matrix('an echo server in one socket_select', function (int $i): array {
    $server = \socket_create_listen(0);
    \socket_getsockname($server, $host, $port);
    $clients = [];
    for ($n = 0; $n < 5; $n++) {
        $clients[] = beside(function () use ($port, $i, $n): array {
            $socket = \socket_create(AF_INET, SOCK_STREAM, SOL_TCP);
            \socket_connect($socket, '127.0.0.1', $port);
            $answers = [];
            foreach (['a', 'b'] as $word) {
                \usleep(ms(50 + 50 * $n) * 1000);
                \socket_write($socket, "$word $i.$n\n");
                $answers[] = \socket_read($socket, 100, PHP_NORMAL_READ);
            }
            \socket_close($socket);
            return $answers;
        });
    }
    $sockets = [];
    $served = $ended = 0;
    while ($ended < 5) {
        $read = [$server, ...$sockets];
        $write = $except = null;
        \socket_select($read, $write, $except, 10);
        foreach ($read as $socket) {
            if ($socket === $server) {
                $sockets[] = \socket_accept($server);
            } elseif ((string) ($data = \socket_read($socket, 1000)) !== '') {
                $served++;
                \socket_write($socket, \strtoupper($data));
            } else {
                $ended++;
                unset($sockets[\array_search($socket, $sockets, true)]);
                \socket_close($socket);
            }
        }
    }
    return [$served, \array_map(fn($client) => $client(), $clients)];
}, n: 3, ms: 300);

matrix('shutdown of one direction', function (int $i): array {
    $server = \socket_create_listen(0);
    \socket_getsockname($server, $host, $port);
    $other = beside(function () use ($port, $i): string {
        $socket = \socket_create(AF_INET, SOCK_STREAM, SOL_TCP);
        \socket_connect($socket, '127.0.0.1', $port);
        \socket_write($socket, "request $i");
        \usleep(ms(300) * 1000);
        \socket_shutdown($socket, 1);
        return \socket_read($socket, 100);
    });
    $socket = \socket_accept($server);
    $all = '';
    while ((string) ($data = \socket_read($socket, 100)) !== '') {
        $all .= $data;
    }
    return [$all, \socket_write($socket, "answer to $all"), $other()];
}, n: 6, ms: 300);

matrix('urgent data', function (int $i): array {
    $server = \socket_create_listen(0);
    \socket_getsockname($server, $host, $port);
    $client = \socket_create(AF_INET, SOCK_STREAM, SOL_TCP);
    \socket_connect($client, '127.0.0.1', $port);
    $socket = \socket_accept($server);
    $other = beside(function () use ($client): void {
        \usleep(ms(300) * 1000);
        \socket_send($client, 'normal', 6, 0);
        \socket_send($client, '!', 1, MSG_OOB);
    });
    $read = $write = null;
    $except = [$socket];
    $ready = \socket_select($read, $write, $except, 10);
    $answer = [$ready, \socket_recv($socket, $urgent, 10, MSG_OOB), $urgent, \socket_recv($socket, $data, 10, 0), $data];
    $other();
    return $answer;
}, n: 6, ms: 300);

matrix('without blocking', function (int $i): array {
    $server = \socket_create_listen(0);
    \socket_getsockname($server, $host, $port);
    \socket_set_nonblock($server);
    $log = [@\socket_accept($server)];
    $client = \socket_create(AF_INET, SOCK_STREAM, SOL_TCP);
    \socket_set_nonblock($client);
    $log[] = @\socket_connect($client, '127.0.0.1', $port) || \socket_last_error($client) === SOCKET_EINPROGRESS;
    $wait = function (?array $read, ?array $write): int {
        $except = null;
        return \socket_select($read, $write, $except, 10);
    };
    $log[] = $wait([$server], null);
    $socket = \socket_accept($server);
    $log[] = $wait(null, [$client]);
    $other = beside(function () use ($client, $i): int {
        \usleep(ms(300) * 1000);
        return \socket_write($client, "hello $i");
    });
    \socket_set_nonblock($socket);
    $log[] = @\socket_read($socket, 100);
    $log[] = $wait([$socket], null);
    return [...$log, \socket_read($socket, 100), $other()];
}, n: 6, ms: 300);

matrix('sockets from streams and streams from sockets', function (int $i): array {
    $stream = line_client('tcp');
    $socket = \socket_import_stream($stream);
    \socket_write($socket, ms(150) . " imported $i\n");
    $first = \fgets($stream);
    $tcp = \socket_create(AF_INET, SOCK_STREAM, SOL_TCP);
    \socket_connect($tcp, '127.0.0.1', (int) env('MATRIX_LINE_PORT'));
    $exported = \socket_export_stream($tcp);
    \fwrite($exported, ms(150) . " exported $i\n");
    return [$first, \socket_read($tcp, 100), \stream_set_blocking($exported, true)];
}, n: 6, ms: 300);

matrix('multicast on the loopback', function (int $i): array {
    $receiver = \socket_create(AF_INET, SOCK_DGRAM, SOL_UDP);
    \socket_bind($receiver, '0.0.0.0', 0);
    \socket_getsockname($receiver, $host, $port);
    $group = '239.192.0.' . ($i + 1);
    $joined = @\socket_set_option($receiver, IPPROTO_IP, MCAST_JOIN_GROUP, ['group' => $group, 'interface' => 'lo']);
    if (!$joined) {
        \usleep(ms(300) * 1000); // there may be no such network in a container
        return [false];
    }
    $other = beside(function () use ($group, $port, $i): void {
        $sender = \socket_create(AF_INET, SOCK_DGRAM, SOL_UDP);
        \socket_set_option($sender, IPPROTO_IP, IP_MULTICAST_IF, 'lo');
        \usleep(ms(300) * 1000);
        \socket_sendto($sender, "to all of $i", 100, 0, $group, $port);
    });
    \socket_set_option($receiver, SOL_SOCKET, SO_RCVTIMEO, ['sec' => 5, 'usec' => 0]);
    \socket_recvfrom($receiver, $data, 100, 0, $from, $from_port);
    $other();
    return [$data];
}, n: 5, ms: 300);
