--TEST--
Async\Poll finds data that TLS has decrypted and nobody has read, and data that another coroutine has left there
--EXTENSIONS--
openssl
--FILE--
<?php
require __DIR__ . '/kit.inc';
use function Async\{await, spawn};

T\work_in();
$key = openssl_pkey_new(['private_key_bits' => 2048]);
$certificate = openssl_csr_sign(openssl_csr_new(['commonName' => 'localhost'], $key), null, $key, 1);
openssl_x509_export($certificate, $pem);
openssl_pkey_export($key, $keyPem);
file_put_contents('cert.pem', $pem . $keyPem);
$server = stream_socket_server('tls://127.0.0.1:0', $errno, $error, STREAM_SERVER_BIND | STREAM_SERVER_LISTEN, stream_context_create(['ssl' => ['local_cert' => 'cert.pem']]));
$trusting = stream_context_create(['ssl' => ['verify_peer' => false, 'verify_peer_name' => false]]);
$client = spawn(fn() => stream_socket_client('tls://' . stream_socket_get_name($server, false), $e, $m, 600, STREAM_CLIENT_CONNECT, $trusting));
$peer = stream_socket_accept($server, 600);
$client = await($client);
stream_set_blocking($client, false);

$poll = new Async\Poll;
$poll->watchRead($client);
while ($poll->wait(0)[0]) fread($client, 8192); // what the handshake has left
foreach (['by the loop', 'by another coroutine'] as $who) {
    // One record: the socket has nothing more after its first byte was read.
    $bytes = 0;
    $first = spawn(function() use ($client, $peer, $who, &$bytes) {
        fwrite($peer, str_repeat('x', 16000));
        if ($who === 'by the loop') return 0;
        $got = '';
        while ($got === '' && $bytes < 16000) $got = (string) fread($client, 100);
        return strlen($got);
    });
    while ($bytes + ($first->getResult() ?? 0) < 16000) {
        $poll->wait();
        $bytes += strlen((string) fread($client, 3000));
    }
    echo "$who: ", $bytes + await($first), "\n", found($poll->wait(0), []), "\n";
}
?>
--EXPECT--
by the loop: 16000
read [] write [] signals []
by another coroutine: 16000
read [] write [] signals []
