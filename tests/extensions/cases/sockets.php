<?php
namespace Matrix;

$pair = static function () { \socket_create_pair(AF_UNIX, SOCK_STREAM, 0, $pair); return $pair; };
$fed = static function () use ($pair) { $p = $pair(); $stream = \socket_export_stream($p[1]); $p[2] = \proc_open(['sh', '-c', 'sleep 0.05; printf aaaa; sleep 0.05; printf bbbb'], [1 => $stream], $pipes); return $p; };
check('socket_read', static fn($p, int $n) => \strlen(\socket_read($p[0], 4)), $fed, in: 'socket_read');
check('socket_recv', static function ($p, int $n) { $count = \socket_recv($p[0], $data, 4, MSG_WAITALL); return [$count, $data]; }, $fed, in: 'socket_recv');
check('socket_write, of objects', static fn($p, int $n) => \socket_write($p[0], text("text $n")), $pair, static fn($p) => \strlen(\socket_read($p[1], 100)), in: 'socket_write');
check('socket_send', static fn($p, int $n) => \socket_send($p[0], text("text $n"), 6, 0), $pair, static fn($p) => \strlen(\socket_read($p[1], 100)), in: 'socket_send');
check('socket_select', static function ($p, int $n) { $read = [$p[0]]; $write = $except = null; return \socket_select($read, $write, $except, 5); }, $fed, in: 'socket_select');
check('socket_connect, complaining', static fn($_, int $n) => noisily(fn() => \socket_connect(\socket_create(AF_UNIX, SOCK_STREAM, 0), text("/none$n"))), in: 'socket_connect');
check('socket_bind', static fn($_, int $n) => noisily(fn() => \socket_bind(\socket_create(AF_UNIX, SOCK_STREAM, 0), text("/none$n/x"))), in: 'socket_bind');
check('socket_sendmsg', static fn($p, int $n) => \socket_sendmsg($p[0], ['iov' => texts("part $n", 'x')]), $pair, static fn($p) => \strlen(\socket_read($p[1], 100)), in: 'socket_sendmsg');
check('socket_addrinfo_lookup', static fn($_, int $n) => \count(\socket_addrinfo_lookup(text('127.0.0.1'), text("$n"), ['ai_family' => AF_INET])) > 0, in: 'socket_addrinfo_lookup');
