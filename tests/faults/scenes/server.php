<?php
namespace Matrix;

return ['work' => function (int $copy): array {
    $server = must(\stream_socket_server('tcp://127.0.0.1:0', $code, $message), 'stream_socket_server');
    $client = must(\stream_socket_client('tcp://' . \stream_socket_get_name($server, false), $code, $message, 5), 'stream_socket_client');
    $accepted = must(\stream_socket_accept($server, 5), 'stream_socket_accept');
    write_all($client, "question $copy\n");
    $question = must(\fgets($accepted), 'fgets');
    write_all($accepted, "answer to $question");
    \stream_socket_shutdown($accepted, STREAM_SHUT_WR);
    $answer = must(\stream_get_contents($client), 'stream_get_contents');
    [$a, $b] = must(\stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0), 'stream_socket_pair');
    write_all($a, "pair\n");
    return [$answer, must(\fgets($b), 'fgets')];
}];
