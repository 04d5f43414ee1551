<?php
namespace Matrix;

return ['work' => function (int $copy): array {
    [$a, $b] = must(\stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0), 'stream_socket_pair');
    [$c, $d] = must(\stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0), 'stream_socket_pair');
    $seen = [];
    foreach ([$b, $d] as $step => $other) {
        write_all($other, "line $copy\n");
        $read = ['a' => $a, 'c' => $c];
        $write = $except = null;
        must(\stream_select($read, $write, $except, 2), 'stream_select');
        foreach ($read as $name => $stream) {
            $seen[] = $name . ' ' . must(\fgets($stream), 'fgets');
        }
    }
    $read = [$a, $c];
    $write = $except = null;
    $seen[] = must(\stream_select($read, $write, $except, 0, 3000), 'stream_select');
    return $seen;
}];
