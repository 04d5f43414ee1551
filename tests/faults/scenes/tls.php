<?php
// needs: peer ext:openssl
// stock hangs: ECONNRESET EPIPE ETIMEDOUT ENOMEM
namespace Matrix;

return ['work' => function (int $copy): array {
    $line = must(line_client('tls'), 'stream_socket_client');
    write_all($line, "1 hello $copy\n");
    $answers = [must(\fgets($line), 'fgets')];
    write_all($line, "flood 1 64000\n");
    $answers[] = \md5(read_all($line, 64_000));
    $data = \str_repeat("data $copy", 6000);
    write_all($line, 'sink 5 ' . \strlen($data) . "\n");
    write_all($line, $data);
    $answers[] = must(\fgets($line), 'fgets');
    return $answers;
}];
