<?php
// needs: ext:openssl
// TLS by PHP's streams: servers and clients of one process, certificates by name, encryption that begins later.
namespace Matrix;

/** A certificate that signs itself, for one name: the file with it and its key. */
function certificate(string $name): string
{
    $key = \openssl_pkey_new(['private_key_type' => OPENSSL_KEYTYPE_EC, 'curve_name' => 'prime256v1']);
    $request = \openssl_csr_new(['commonName' => $name], $key);
    \openssl_x509_export(\openssl_csr_sign($request, null, $key, 30), $certificate);
    \openssl_pkey_export($key, $private);
    \file_put_contents($file = scratch('cert'), $certificate . $private);
    return $file;
}

const NAMES = ['one.example', 'two.example', 'three.example'];
foreach (NAMES as $name) {
    $certificates[$name] = certificate($name);
}
$trusted = scratch('trusted');
\file_put_contents($trusted, \implode(\array_map(\file_get_contents(...), $certificates)));

/** @return array{resource, string} */
function server(array $options): array
{
    $server = \stream_socket_server('tcp://127.0.0.1:0', $code, $message, STREAM_SERVER_BIND | STREAM_SERVER_LISTEN, \stream_context_create(['ssl' => $options]));
    return [$server, \stream_socket_get_name($server, false)];
}

function client(string $address, array $options)
{
    return \stream_socket_client($address, $code, $message, 10, STREAM_CLIENT_CONNECT, \stream_context_create(['ssl' => $options]));
}

matrix('the certificate of the name that was asked for', function (int $i) use ($certificates, $trusted): array {
    $server = \stream_socket_server('tls://127.0.0.1:0', $code, $message, STREAM_SERVER_BIND | STREAM_SERVER_LISTEN, \stream_context_create(['ssl' => [
        'local_cert' => $certificates[NAMES[0]], 'SNI_enabled' => true, 'SNI_server_certs' => $certificates]]));
    $address = 'tls://' . \stream_socket_get_name($server, false);
    $clients = [];
    foreach (NAMES as $name) {
        $clients[] = beside(function () use ($address, $name, $trusted): array {
            $stream = client($address, ['cafile' => $trusted, 'peer_name' => $name, 'capture_peer_cert' => true]);
            $shown = \openssl_x509_parse(\stream_context_get_options($stream)['ssl']['peer_certificate'])['subject']['CN'];
            \usleep(ms(170) * 1000);
            \fwrite($stream, "$shown\n");
            return [$shown === $name, \fgets($stream)];
        });
    }
    $lines = [];
    foreach (NAMES as $_) {
        $stream = \stream_socket_accept($server, 10);
        $lines[] = $line = \fgets($stream);
        \fwrite($stream, "hello $line");
        \fclose($stream);
    }
    \sort($lines);
    return [$lines, \array_map(fn($client) => $client(), $clients)];
}, n: 4, ms: 500);

matrix('a name that the certificate is not for', function (int $i) use ($certificates, $trusted): array {
    [$server, $address] = server(['local_cert' => $certificates['one.example']]);
    $other = beside(function () use ($server): bool {
        $stream = \stream_socket_accept($server, 10);
        \usleep(ms(500) * 1000);
        @\stream_socket_enable_crypto($stream, true, STREAM_CRYPTO_METHOD_TLS_SERVER);
        return @\fgets($stream) === false;
    });
    $stream = @client("tls://$address", ['cafile' => $trusted, 'peer_name' => 'two.example']);
    return [$stream, $other()];
}, n: 4, ms: 500);

matrix('encryption that begins after a greeting, and a client with a certificate', function (int $i) use ($certificates, $trusted): array {
    [$server, $address] = server(['local_cert' => $certificates['one.example'], 'cafile' => $trusted, 'verify_peer' => true,
        'verify_peer_name' => false, 'capture_peer_cert' => true]);
    $other = beside(function () use ($address, $certificates, $trusted, $i): array {
        $stream = client("tcp://$address", ['cafile' => $trusted, 'peer_name' => 'one.example', 'local_cert' => $certificates['two.example']]);
        \usleep(ms(250) * 1000);
        \fwrite($stream, "STARTTLS\n");
        $ready = \fgets($stream);
        $on = \stream_socket_enable_crypto($stream, true, STREAM_CRYPTO_METHOD_TLS_CLIENT);
        \usleep(ms(250) * 1000);
        \fwrite($stream, "secret $i\n");
        return [$ready, $on, \fgets($stream), \stream_get_meta_data($stream)['crypto']['protocol']];
    });
    $stream = \stream_socket_accept($server, 10);
    $said = [\fgets($stream)];
    \usleep(ms(250) * 1000);
    \fwrite($stream, "READY\n");
    $said[] = \stream_socket_enable_crypto($stream, true, STREAM_CRYPTO_METHOD_TLS_SERVER);
    $said[] = \openssl_x509_parse(\stream_context_get_options($stream)['ssl']['peer_certificate'])['subject']['CN'];
    $said[] = $secret = \fgets($stream);
    \fwrite($stream, \strtoupper($secret));
    return [$said, $other()];
}, n: 4, ms: 500);

matrix('a handshake without blocking', function (int $i) use ($certificates, $trusted): array {
    [$server, $address] = server(['local_cert' => $certificates['three.example']]);
    $other = beside(function () use ($server, $i): bool {
        $stream = \stream_socket_accept($server, 10);
        \usleep(ms(500) * 1000);
        $on = \stream_socket_enable_crypto($stream, true, STREAM_CRYPTO_METHOD_TLS_SERVER);
        \fwrite($stream, "welcome $i\n");
        \fgets($stream);
        return $on;
    });
    $stream = client("tcp://$address", ['cafile' => $trusted, 'peer_name' => 'three.example']);
    \stream_set_blocking($stream, false);
    while (($on = \stream_socket_enable_crypto($stream, true, STREAM_CRYPTO_METHOD_TLS_CLIENT)) === 0) {
        $read = [$stream];
        $write = $except = null;
        \stream_select($read, $write, $except, 10);
    }
    \stream_set_blocking($stream, true);
    $line = \fgets($stream);
    \fwrite($stream, "bye\n");
    return [$on, $line, $other()];
}, n: 4, ms: 500);

matrix('2 MB there and back', function (int $i) use ($certificates, $trusted): array {
    [$server, $address] = server(['local_cert' => $certificates['one.example']]);
    $data = \str_repeat("tls data $i ", 190_000);
    $other = beside(function () use ($address, $trusted, $data): array {
        $stream = client("tls://$address", ['cafile' => $trusted, 'peer_name' => 'one.example']);
        $sent = \fwrite($stream, $data);
        \usleep(ms(250) * 1000);
        return [$sent === \strlen($data), \stream_get_contents($stream, \strlen($data)) === $data, \fwrite($stream, "done\n")];
    });
    $stream = \stream_socket_accept($server, 10);
    \stream_socket_enable_crypto($stream, true, STREAM_CRYPTO_METHOD_TLS_SERVER);
    \usleep(ms(250) * 1000);
    $got = \stream_get_contents($stream, \strlen($data));
    $sent = \fwrite($stream, $got);
    return [$got === $data, $sent === \strlen($data), \fgets($stream), $other()];
}, n: 4, ms: 250);

matrix('a session taken up again, protocols chosen by ALPN', function (int $i) use ($certificates, $trusted): array {
    [$server, $address] = server(['local_cert' => $certificates['one.example'], 'alpn_protocols' => 'spindle,other']);
    $other = beside(function () use ($server): array {
        $chosen = [];
        for ($n = 0; $n < 2; $n++) {
            $stream = \stream_socket_accept($server, 10);
            \stream_socket_enable_crypto($stream, true, STREAM_CRYPTO_METHOD_TLS_SERVER);
            $chosen[] = \stream_get_meta_data($stream)['crypto']['alpn_protocol'] ?? null;
            \usleep(ms(250) * 1000);
            \fwrite($stream, \fgets($stream));
        }
        return $chosen;
    });
    $lines = [];
    foreach (['other', 'spindle'] as $protocol) {
        $stream = client("tls://$address", ['cafile' => $trusted, 'peer_name' => 'one.example', 'alpn_protocols' => $protocol]);
        \fwrite($stream, "by $protocol\n");
        $lines[] = [\fgets($stream), \stream_get_meta_data($stream)['crypto']['alpn_protocol'] ?? null];
    }
    return [$lines, $other()];
}, n: 4, ms: 500);
