<?php
// needs: peer
// Servers and their clients in one process.
namespace Matrix;

/** Serves $clients connections, each in an activity of its own, and sums up what it has read. */
function serve($server, int $clients, callable $answer): array
{
    $handlers = $kept = [];
    for ($n = 0; $n < $clients; $n++) {
        $stream = \stream_socket_accept($server, 10);
        $handlers[] = beside(function () use ($stream, $answer): string {
            $line = \fgets($stream);
            \fwrite($stream, $answer($line));
            \fclose($stream);
            return $line;
        });
        $kept[] = is_async() ? null : $stream; // a forked handler's parent would say goodbye for it (TLS)
        $stream = null;
    }
    $lines = \array_map(fn($handler) => $handler(), $handlers);
    \sort($lines);
    return $lines;
}

foreach (['tcp', 'unix', 'tls'] as $transport) {
    scenario("$transport: an accept loop and ten clients", function () use ($transport): array {
        $address = $transport === 'unix' ? 'unix://' . scratch('sock') : "$transport://127.0.0.1:0";
        $context = \stream_context_create(['ssl' => [
            'local_cert' => env('MATRIX_PEM'), 'cafile' => env('MATRIX_CERT'), 'peer_name' => 'localhost']]);
        $server = \stream_socket_server($address, $code, $message, STREAM_SERVER_BIND | STREAM_SERVER_LISTEN, $context);
        if ($transport !== 'unix') {
            $address = "$transport://" . \stream_socket_get_name($server, false);
        }
        $clients = [];
        for ($n = 0; $n < 10; $n++) {
            $clients[] = beside(function () use ($address, $context, $n): array {
                $stream = \stream_socket_client($address, $code, $message, 10, STREAM_CLIENT_CONNECT, $context);
                \usleep(ms(100) * 1000);
                \fwrite($stream, "client $n\n");
                return [\fgets($stream), \fgets($stream), \feof($stream)];
            });
        }
        $served = serve($server, 10, function (string $line): string {
            \usleep(ms(100) * 1000);
            return "you are $line";
        });
        return [$served, \array_map(fn($client) => $client(), $clients)];
    }, waits: 100);
}

matrix('accept that times out', function (int $i): array {
    $server = \stream_socket_server('tcp://127.0.0.1:0');
    $start = \hrtime(true);
    $stream = @\stream_socket_accept($server, seconds());
    return [$stream, (\hrtime(true) - $start) / 1e6 >= ms() - 1];
});

matrix('accept that waits for its client', function (int $i): array {
    $server = \stream_socket_server('tcp://127.0.0.1:0');
    $address = 'tcp://' . \stream_socket_get_name($server, false);
    $client = beside(function () use ($address, $i): int {
        \usleep(ms() * 1000);
        return \fwrite(\stream_socket_client($address), "client $i\n");
    });
    return [\fgets(\stream_socket_accept($server, 10)), $client()];
});

matrix('datagrams', function (int $i): array {
    // Each on an address of its own: PHP allows the reuse of addresses, and the system may choose the same port for two.
    $server = \stream_socket_server('udp://127.0.0.' . ($i + 1) . ':0', $code, $message, STREAM_SERVER_BIND);
    $address = 'udp://' . \stream_socket_get_name($server, false);
    $client = beside(function () use ($address, $i): string {
        $stream = \stream_socket_client($address);
        \usleep(ms() * 1000);
        \fwrite($stream, "datagram $i");
        return \fread($stream, 100);
    });
    $data = \stream_socket_recvfrom($server, 100, 0, $from);
    \stream_socket_sendto($server, \strtoupper($data), 0, $from);
    return [$data, $client()];
});
