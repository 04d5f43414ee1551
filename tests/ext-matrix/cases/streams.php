<?php
// needs: peer
// Client streams: TCP, Unix and TLS.
namespace Matrix;

foreach (['tcp', 'unix', 'tls'] as $transport) {
    matrix("$transport: lines", function (int $i) use ($transport): array {
        $stream = line_client($transport);
        \fwrite($stream, ms(250) . " first $i\n" . ms(500) . " second $i\n");
        return [\fgets($stream), \fgets($stream)];
    });

    matrix("$transport: a big answer", function (int $i) use ($transport): array {
        $stream = line_client($transport);
        \fwrite($stream, 'flood ' . ms(300) . " 3200000\n");
        $data = \stream_get_contents($stream, 3_200_000);
        return [\strlen($data), \md5($data)];
    }, n: 6, ms: 300);

    matrix("$transport: a slow reader", function (int $i) use ($transport): array {
        // more than the buffers of both sides hold: fwrite has to wait
        $stream = line_client($transport);
        $data = \str_repeat("backpressure $i ", 1_000_000);
        \fwrite($stream, 'sink ' . ms(300) . ' ' . \strlen($data) . "\n");
        $sent = \fwrite($stream, $data);
        return [$sent === \strlen($data), \fgets($stream) === \md5($data) . "\n"];
    }, n: 4, ms: 300);

    matrix("$transport: the end of the stream", function (int $i) use ($transport): array {
        $stream = line_client($transport);
        \fwrite($stream, "0 last words\nclose " . ms() . "\n");
        return [\fgets($stream), \fgets($stream), \feof($stream)];
    });

    matrix("$transport: a read timeout", function (int $i) use ($transport): array {
        $stream = line_client($transport);
        \stream_set_timeout($stream, 0, ms() * 1000);
        \fwrite($stream, "600000 late\n");
        $start = \hrtime(true);
        $line = \fgets($stream);
        $waited = (\hrtime(true) - $start) / 1e6;
        return [$line, \stream_get_meta_data($stream)['timed_out'], $waited >= ms() - 1];
    }, n: 10);

    matrix("$transport: without blocking", function (int $i) use ($transport): array {
        $stream = line_client($transport);
        \stream_set_blocking($stream, false);
        \fwrite($stream, ms() . " answer $i\n");
        $at_once = \fgets($stream);
        $read = [$stream];
        $write = $except = null;
        $ready = \stream_select($read, $write, $except, 10);
        while (($line = \fgets($stream)) === false) {
            \usleep(1000);
        }
        return [$at_once, $ready, $line];
    }, n: 10);
}

matrix('a refused connection', function (int $i): array {
    $stream = @\stream_socket_client('tcp://127.0.0.1:1', $code, $message, 5);
    return [$stream, $code, $message];
}, n: 10, evidence: 'none'); // it is refused at once

matrix('a connection that times out', function (int $i): array {
    $full = new FullListener;
    $stream = @\stream_socket_client($full->address, $code, $message, seconds());
    return [$stream, $message];
}, n: 5);

matrix('asynchronous connect', function (int $i): array {
    $address = 'tcp://127.0.0.1:' . env('MATRIX_LINE_PORT');
    $stream = \stream_socket_client($address, $code, $message, 5, STREAM_CLIENT_CONNECT | STREAM_CLIENT_ASYNC_CONNECT);
    $write = [$stream];
    $read = $except = null;
    $ready = \stream_select($read, $write, $except, 5);
    \fwrite($stream, ms() . " connected $i\n");
    return [$ready, \fgets($stream)];
}, n: 10);

matrix('a pair', function (int $i): array {
    [$a, $b] = \stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    $other = beside(function () use ($b, $i): array {
        $got = \fgets($b);
        \usleep(ms() * 1000);
        return [$got, \fwrite($b, "answer $i\n")];
    });
    $sent = \fwrite($a, "question $i\n");
    return [$sent, \fgets($a), $other()];
});
