--TEST--
H24 an encrypted stream is read and written at once: every byte arrives, and who only reads or writes then finds it blocking
--EXTENSIONS--
openssl
--FILE--
<?php
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';

T\work_in();
$key = openssl_pkey_new(['private_key_bits' => 2048]);
$certificate = openssl_csr_sign(openssl_csr_new(['commonName' => 'localhost'], $key), null, $key, 1);
openssl_x509_export($certificate, $pem);
openssl_pkey_export($key, $keyPem);
file_put_contents('cert.pem', $pem . $keyPem);
$server = stream_socket_server('tls://127.0.0.1:0', $errno, $error, STREAM_SERVER_BIND | STREAM_SERVER_LISTEN, stream_context_create(['ssl' => ['local_cert' => 'cert.pem']]));
$trusting = stream_context_create(['ssl' => ['verify_peer' => false, 'verify_peer_name' => false]]);
$size = 4 << 20;

$client = spawn(fn() => stream_socket_client('tls://' . stream_socket_get_name($server, false), $e, $m, 600, STREAM_CLIENT_CONNECT, $trusting));
$peer = stream_socket_accept($server, 600);
$client = await($client);
$all = function($from) use ($size) { for ($got = ''; strlen($got) < $size && ($part = fread($from, 65536)) !== '' && $part !== false;) $got .= $part; return md5($got) . strlen($got); };
$random = random_bytes($size);
$expected = md5($random) . $size;
foreach (['first', 'again'] as $time) {
    $jobs = [spawn($all, $client), spawn($all, $peer)];                       // both wait for input
    T\parked(...$jobs);
    $sent = [spawn(fn() => fwrite($client, $random)), spawn(fn() => fwrite($peer, $random))];
    T\check("written, $time", T\all($sent) === [$size, $size]);
    T\check("read, $time", T\all($jobs) === [$expected, $expected]);
}
// who reads on, after a writer beside it has ended, and the other way round
$reader = spawn(fn() => fgets($client));
T\parked($reader);
fwrite($client, "to the peer\n");
echo fgets($peer);
fwrite($peer, "to the client\n");
echo await($reader);
T\check('blocking', stream_get_meta_data($client)['blocked'] && stream_get_meta_data($peer)['blocked']);
$writer = spawn(fn() => fwrite($client, $random));
T\parked($writer);
fwrite($peer, "short\n");
echo fgets($client);
T\check('writer', spawn($all, $peer) && await($writer) === $size);
?>
--EXPECT--
written, first: yes
read, first: yes
written, again: yes
read, again: yes
to the peer
to the client
blocking: yes
short
writer: yes
