<?php
/**
 * Connections of Async\Http\Server that have had a request and wait for the next one: growth of VmRSS for each. N connections; 1:
 * with TLS. They are those of a child process, which may have as many descriptors.
 */
require __DIR__ . '/../lib/suite.php';

function resident(): int
{
    preg_match('/^VmRSS:\s+(\d+)/m', file_get_contents('/proc/self/status'), $found);
    return 1024 * (int) $found[1];
}

/** Opens connections, has each answered, and says so; then waits until the other side ends. */
function clients(string $address, int $n, bool $tls, $control): void
{
    $context = stream_context_create(['ssl' => ['verify_peer' => false, 'verify_peer_name' => false]]);
    $all = [];
    foreach ([intdiv($n, 10), $n] as $many) { // the first tenth is to be there before it counts
        while (count($all) < $many) {
            $all[] = $stream = stream_socket_client(($tls ? 'tls' : 'tcp') . "://$address", $code, $error, 60, STREAM_CLIENT_CONNECT, $context);
            check($stream !== false, "no connection: $error");
            fwrite($stream, "GET / HTTP/1.1\r\nHost: example\r\nUser-Agent: bench\r\nAccept: */*\r\n\r\n");
            for ($answer = ''; !str_ends_with($answer, 'Hello'); $answer .= $piece) {
                $piece = (string) fread($stream, 8192);
                check($piece !== '', 'not answered');
            }
        }
        fwrite($control, "there\n");
        fgets($control);
    }
}

$measure = static function (int $n, int $tls = 0): float {
    if ($tls) {
        $certificate = tempnam(sys_get_temp_dir(), 'bench');
        $key = openssl_pkey_new(['private_key_type' => OPENSSL_KEYTYPE_EC, 'curve_name' => 'prime256v1']);
        openssl_x509_export_to_file(openssl_csr_sign(openssl_csr_new(['commonName' => 'bench'], $key), null, $key, 2), "$certificate.pem");
        openssl_pkey_export_to_file($key, "$certificate.key");
    }
    [$ours, $theirs] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    $server = (new Async\Http\Server(['max_connections' => 1_000_000, 'keep_alive' => 0]))
        ->listen('127.0.0.1:0', $tls ? new Async\Http\Tls("$certificate.pem", "$certificate.key") : null)
        ->handle(static fn() => new Async\Http\Response('Hello', 200, ['Content-Type' => 'text/plain']));
    if (pcntl_fork() === 0) {
        fclose($ours);
        clients($server->address(), $n, (bool) $tls, $theirs);
        pcntl_exec('/bin/true'); // it has a server, too, that is not to end in order
    }
    fclose($theirs);
    $running = Async\spawn($server->run(...));
    check(fgets($ours) === "there\n", 'the clients have failed');
    $before = resident();
    fwrite($ours, "go on\n");
    check(fgets($ours) === "there\n", 'the clients have failed');
    Async\delay(10);
    check($server->stats()['connections'] === $n, 'connections have ended');
    $grown = (resident() - $before) / ($n - intdiv($n, 10));
    fwrite($ours, "end\n");
    $server->stop();
    Async\await($running);
    return $grown;
};
bench('B', $measure);
