<?php
// needs: peer
namespace Matrix;

return ['work' => function (int $copy): array {
    $address = \gethostbyname('localhost');
    $address !== 'localhost' or throw new Told('gethostbyname failed');
    $line = must(\stream_socket_client('tcp://localhost:' . env('MATRIX_LINE_PORT'), $code, $message, 5), 'stream_socket_client');
    write_all($line, "1 hello $copy\n");
    return [$address, must(\fgets($line), 'fgets'), \gethostbyaddr('127.0.0.1') === 'localhost'];
}];
