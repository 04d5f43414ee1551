<?php
// needs: peer
namespace Matrix;

matrix('several streams', function (int $i): array {
    $streams = ['c' => line_client('tcp'), 'b' => line_client('unix'), 'a' => line_client('tcp')];
    foreach (\array_reverse($streams) as $name => $stream) {
        $delay = ['a' => 150, 'b' => 300, 'c' => 450][$name];
        \fwrite($stream, (is_async() ? $delay : $delay / 5) . " $name$i\n");
    }
    $answers = [];
    while ($streams) {
        $read = $streams;
        $write = $except = null;
        $count = \stream_select($read, $write, $except, 10);
        foreach ($read as $name => $stream) {
            $answers[$name] = [$count === \count($read), \fgets($stream)];
            unset($streams[$name]);
        }
    }
    \ksort($answers); // a machine that stood still has several at once
    return $answers;
}, ms: 450);

matrix('nothing in time', function (int $i): array {
    [$a, $b] = \stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    $read = [$a];
    $write = $except = null;
    $start = \hrtime(true);
    $count = \stream_select($read, $write, $except, 0, ms() * 1000);
    return [$count, $read, (\hrtime(true) - $start) / 1e6 >= ms() - 1];
});

matrix('ready to write at once', function (int $i): array {
    [$a, $b] = \stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    $read = [$a];
    $write = [$b];
    $except = null;
    $count = \stream_select($read, $write, $except, 10);
    \usleep(ms() * 1000);
    return [$count, \count($read), \count($write)];
});

matrix('a server and its client in one select', function (int $i): array {
    $server = \stream_socket_server('tcp://127.0.0.1:0');
    $name = \stream_socket_get_name($server, false);
    $client = beside(function () use ($name, $i): string {
        \usleep(ms(250) * 1000);
        $stream = \stream_socket_client("tcp://$name");
        \usleep(ms(250) * 1000);
        \fwrite($stream, "hello $i\n");
        return \fgets($stream);
    });
    $streams = [$server];
    $events = [];
    while (true) {
        $read = $streams;
        $write = $except = null;
        \stream_select($read, $write, $except, 10);
        foreach ($read as $stream) {
            if ($stream === $server) {
                $events[] = 'accept';
                $streams[] = \stream_socket_accept($server);
            } else {
                $events[] = $line = \fgets($stream);
                \fwrite($stream, "welcome, $line");
                return [$events, $client()];
            }
        }
    }
}, n: 10);

matrix('a pipe of a process', function (int $i): array {
    $process = \proc_open(['sh', '-c', 'sleep ' . seconds() . "; echo out $i; echo err $i >&2"], [1 => ['pipe', 'w'], ['pipe', 'w']], $pipes);
    $got = [1 => '', 2 => ''];
    $open = $pipes;
    while ($open) {
        $read = $open;
        $write = $except = null;
        \stream_select($read, $write, $except, 10);
        foreach ($read as $n => $pipe) {
            $data = \fread($pipe, 8192);
            $got[$n] .= $data;
            if ($data === '') {
                unset($open[$n]);
            }
        }
    }
    return [$got, \proc_close($process)];
}, n: 10);
