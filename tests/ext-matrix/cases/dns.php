<?php
// needs: peer
// Names. Only those that need no network.
namespace Matrix;

matrix('gethostbyname', fn() => \gethostbyname('localhost'), evidence: 'none');
matrix('gethostbynamel', fn() => \gethostbynamel('localhost'), evidence: 'none');
matrix('gethostbyaddr', fn() => \gethostbyaddr('127.0.0.1'), evidence: 'switch');
matrix('a number', fn(int $i) => \gethostbyname("127.0.0.$i"), evidence: 'none');
matrix('an unknown name', fn() => \gethostbyname('nowhere.invalid'), n: 3, evidence: 'switch');
matrix('the services of the system', fn() => [\getservbyname('http', 'tcp'), \getprotobyname('tcp')], evidence: 'none');

matrix('a stream to a name', function (int $i): string {
    $stream = \stream_socket_client('tcp://localhost:' . env('MATRIX_LINE_PORT'), $code, $message, 10);
    \fwrite($stream, ms() . " named $i\n");
    return \fgets($stream);
});

matrix('fsockopen to a name', function (int $i): string {
    $stream = \fsockopen('localhost', (int) env('MATRIX_LINE_PORT'), $code, $message, 10);
    \fwrite($stream, ms() . " named $i\n");
    return \fgets($stream);
});

if (\function_exists('socket_addrinfo_lookup')) {
    matrix('socket_addrinfo_lookup', function (int $i): array {
        $found = \socket_addrinfo_lookup('localhost', (string) (1000 + $i), ['ai_family' => AF_INET, 'ai_socktype' => SOCK_STREAM]);
        return \socket_addrinfo_explain($found[0])['ai_addr'];
    }, evidence: 'none');
}
