<?php
namespace Matrix;

use Async;

/** Every kind of suspension; each would last for a while. With them, what they wait for. */
function kinds(): array
{
    $lock = scratch('lock');
    $owner = \fopen($lock, 'c');
    \flock($owner, LOCK_EX);
    $never = Async\spawn(fn() => Async\delay(3_600_000));
    $kinds = [
        'delay' => fn() => Async\delay(1000),
        'suspend' => function (): void {
            while (true) {
                Async\suspend();
            }
        },
        'await' => fn() => Async\await($never),
        'await with a token' => fn() => Async\await($never, Async\timeout(60_000)),
        'usleep' => fn() => \usleep(1_000_000),
        'sleep' => fn() => \sleep(1),
        'fread' => function (): void {
            [$a, $b] = \stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
            \fread($a, 100);
        },
        'fwrite' => function (): void {
            [$a, $b] = \stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
            \fwrite($a, \str_repeat('x', 1_000_000));
        },
        'stream_select' => function (): void {
            $read = \stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
            $write = $except = null;
            \stream_select($read, $write, $except, 1);
        },
        'accept' => fn() => @\stream_socket_accept(\stream_socket_server('tcp://127.0.0.1:0'), 1),
        'blPop' => fn() => redis()->rawCommand('BLPOP', 'stress_empty', '1'),
        'pg_sleep' => fn() => pdo_pgsql()->query('select pg_sleep(0.2)'),
        'curl' => fn() => \curl_exec(curl(http('/1000/late'))),
        'https' => fn() => \curl_exec(curl(https('/1000/late'))),
        'file_get_contents' => fn() => @\file_get_contents(http('/1000/late')),
        'flock' => fn() => \flock(\fopen($lock, 'c'), LOCK_EX),
        'shell_exec' => fn() => \shell_exec('sleep 0.05'),
        'proc_close' => fn() => \proc_close(\proc_open(['sleep', '0.05'], [['pipe', 'r'], ['pipe', 'w']], $pipes)),
        'read from a process' => function (): void {
            $process = \proc_open(['sleep', '0.05'], [1 => ['pipe', 'w']], $pipes);
            \stream_get_contents($pipes[1]);
        },
        'gethostbyname' => fn() => \gethostbyname('localhost'),
        'file' => fn() => \file_put_contents($lock . '.data', 'x', FILE_APPEND) + \strlen(\file_get_contents(__FILE__)),
        'cleanup that blocks' => function (): void {
            try {
                \usleep(1_000_000);
            } finally {
                \usleep(2000);
            }
        },
        'a swallowed cancellation' => function (): void {
            try {
                Async\delay(1000);
            } catch (Async\CancellationException) {
                \usleep(1000);
            }
        },
    ];
    return [$kinds, $never, $owner];
}
