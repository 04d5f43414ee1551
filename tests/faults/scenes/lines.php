<?php
// needs: peer
namespace Matrix;

return ['work' => function (int $copy): array {
    $answers = [];
    foreach (['tcp', 'unix'] as $transport) {
        $line = must(line_client($transport), 'stream_socket_client');
        write_all($line, "1 hello $copy\n");
        $answers[] = must(\fgets($line), 'fgets');
        write_all($line, "flood 1 160000\n");
        $answers[] = \md5(read_all($line, 160_000));
        $data = \str_repeat("data $copy", 20_000);
        write_all($line, 'sink 5 ' . \strlen($data) . "\n");
        write_all($line, $data);
        $answers[] = must(\fgets($line), 'fgets');
        write_all($line, "close 1\n");
        $answers[] = read_all($line, 100);
    }
    return $answers;
}];
