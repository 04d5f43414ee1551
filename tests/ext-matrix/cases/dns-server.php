<?php
// needs: peer dns ext:curl ext:sockets
// Names from a name server that takes its time.
namespace Matrix;

\putenv('RES_OPTIONS=timeout:1 attempts:1');

matrix('gethostbyname', fn(int $i) => \gethostbyname("n$i.w" . ms(300) . '.test'), ms: 300);
matrix('gethostbynamel', fn(int $i) => \gethostbynamel("n$i.w" . ms(300) . '.test'), n: 6, ms: 300);
matrix('gethostbyaddr', fn(int $i) => \gethostbyaddr("10.1.0.$i"), n: 4, ms: 300);
matrix('dns_get_record', function (int $i): array {
    $answers = [];
    foreach (['A' => DNS_A, 'AAAA' => DNS_AAAA, 'MX' => DNS_MX, 'TXT' => DNS_TXT] as $type => $constant) {
        foreach (\dns_get_record("n$i.w" . ms(100) . '.test', $constant) as $record) {
            $answers[$type][] = \array_diff_key($record, ['ttl' => 0, 'host' => '']);
        }
    }
    return $answers;
}, n: 6, ms: 400);
// The thread's own state of the resolver is of the configuration before.
\file_put_contents('/etc/resolv.conf', "options rotate\n", FILE_APPEND);
matrix('checkdnsrr and getmxrr', function (int $i): array {
    $name = "n$i.w" . ms(150) . '.test';
    return [\checkdnsrr($name, 'MX'), \getmxrr($name, $hosts, $weights), $hosts, $weights];
}, n: 6, ms: 300);
matrix('a name that is not there', function (int $i): array {
    $name = "no$i.w" . ms(150) . '.test';
    return [\gethostbyname($name) === $name, @\dns_get_record($name, DNS_A)];
}, n: 6, ms: 300);
matrix('a server that does not answer', fn() => @\dns_get_record('silent.test', DNS_A), n: 2, ms: 1000);

matrix('streams to a name', function (int $i): string {
    $stream = \stream_socket_client('tcp://local.w' . ms(150) . '.test:' . env('MATRIX_LINE_PORT'), $code, $message, 10);
    \fwrite($stream, ms(150) . " named $i\n");
    return \fgets($stream);
}, n: 6, ms: 300);
matrix('cURL to a name', fn(int $i) => \curl_exec(curl('http://local.w' . ms(150) . '.test:' . env('MATRIX_HTTP_PORT') . '/' . ms(150) . "/named$i")), n: 6, ms: 300);
matrix('file_get_contents of a name', fn(int $i) => \file_get_contents('http://local.w' . ms(150) . '.test:' . env('MATRIX_HTTP_PORT') . '/' . ms(150) . "/named$i"), n: 6, ms: 300);
matrix('socket_addrinfo_lookup', function (int $i): array {
    $found = \socket_addrinfo_lookup("n$i.w" . ms(300) . '.test', '80', ['ai_family' => AF_INET, 'ai_socktype' => SOCK_STREAM]);
    return \array_map(fn($info) => \socket_addrinfo_explain($info)['ai_addr'], $found);
}, n: 6, ms: 300);

cancelled('gethostbyname, cancelled', fn() => \gethostbyname('n1.w900.test'), fn() => \gethostbyname('n2.w10.test'));
cancelled('dns_get_record, cancelled', fn() => \dns_get_record('n1.w900.test', DNS_A), fn() => \dns_get_record('n2.w10.test', DNS_A)[0]['ip']);
// (cURL waits for the thread that it has for names, cancelled or not)
cancelled('cURL, cancelled', fn() => \curl_exec(curl('http://local.w900.test:' . env('MATRIX_HTTP_PORT') . '/0/late')), within: 3.0);
