<?php

/**
 * The service the demo's shop asks: a tiny HTTP server in plain PHP that answers after a while.
 *
 * One process serves all clients at once (stream_select), so that what the demo measures is the client alone. It
 * listens on a free port of 127.0.0.1, prints the port as its first line, and ends when its standard input does: when
 * whoever started it is gone, it is gone too.
 */

declare(strict_types=1);

const STOCK = ['apron' => 12, 'basket' => 7, 'candle' => 140, 'drum' => 3, 'easel' => 0, 'flute' => 21, 'globe' => 5, 'harp' => 1];

/** @return array{int, string, float} status, JSON and the seconds it takes */
function answer(string $path): array
{
    if (preg_match('~^/stock/([a-z]+)$~', $path, $match) && isset(STOCK[$match[1]])) {
        return [200, json_encode(['sku' => $match[1], 'stock' => STOCK[$match[1]]]), 0.2];
    }
    return match ($path) {
        '/reviews' => [200, json_encode([['sku' => 'drum', 'stars' => 5], ['sku' => 'harp', 'stars' => 4]]), 0.3],
        '/rates' => [200, json_encode(['EUR' => 1, 'USD' => 1.09, 'JPY' => 171.3]), 0.25],
        default => [404, json_encode(['error' => 'not found']), 0.0],
    };
}

$server = stream_socket_server('tcp://127.0.0.1:0', $code, $message, context: stream_context_create(['socket' => ['backlog' => 512]]));
if (!$server) {
    fwrite(STDERR, "http-server: $message\n");
    exit(1);
}
echo substr(strrchr(stream_socket_get_name($server, false), ':'), 1), "\n";

$clients = [];  // id => stream
$requests = []; // id => what has been read of its request
$answers = [];  // id => [when it is due, the bytes]

while (true) {
    $read = [STDIN, $server, ...array_values($clients)];
    $write = $except = null;
    if ($answers) {
        $microseconds = (int) (1e6 * max(0, min(array_column($answers, 0)) - microtime(true))) + 100;
        stream_select($read, $write, $except, 0, $microseconds);
    } else {
        stream_select($read, $write, $except, null);
    }
    foreach ($read as $stream) {
        $id = get_resource_id($stream);
        if ($stream === STDIN) {
            if (fread(STDIN, 1024) === '') {
                exit;
            }
        } elseif ($stream === $server) {
            if ($client = @stream_socket_accept($server, 0)) {
                stream_set_blocking($client, false);
                $clients[get_resource_id($client)] = $client;
                $requests[get_resource_id($client)] = '';
            }
        } else {
            $data = fread($stream, 8192);
            if ($data === '' || $data === false) {
                fclose($stream);
                unset($clients[$id], $requests[$id], $answers[$id]);
                continue;
            }
            $requests[$id] .= $data;
            if (!isset($answers[$id]) && str_contains($requests[$id], "\r\n\r\n")) {
                [$status, $body, $seconds] = answer(explode(' ', $requests[$id], 3)[1] ?? '');
                $answers[$id] = [
                    microtime(true) + $seconds,
                    "HTTP/1.1 $status " . ($status === 200 ? 'OK' : 'Not Found') . "\r\nContent-Type: application/json\r\n"
                        . 'Content-Length: ' . strlen($body) . "\r\nConnection: close\r\n\r\n$body",
                ];
            }
        }
    }
    foreach ($answers as $id => [$due, $bytes]) {
        if ($due <= microtime(true)) {
            fwrite($clients[$id], $bytes);
            fclose($clients[$id]);
            unset($clients[$id], $requests[$id], $answers[$id]);
        }
    }
}
