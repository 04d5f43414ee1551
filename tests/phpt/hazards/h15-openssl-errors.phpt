--TEST--
H15 failing OpenSSL calls of some coroutines do not end the TLS connections of others
--EXTENSIONS--
openssl
--FILE--
<?php
use function Async\{delay, spawn, suspend};

require __DIR__ . '/kit.inc';
T\work_in();
set_error_handler(fn() => true);

$key = openssl_pkey_new(['private_key_type' => OPENSSL_KEYTYPE_EC, 'curve_name' => 'prime256v1']);
openssl_x509_export(openssl_csr_sign(openssl_csr_new(['commonName' => 'localhost'], $key), null, $key, 1), $pem);
openssl_pkey_export($key, $keyPem);
file_put_contents('cert.pem', $pem . $keyPem);
while (openssl_error_string());

$server = stream_socket_server('tls://127.0.0.1:0', $errno, $error, STREAM_SERVER_BIND | STREAM_SERVER_LISTEN, stream_context_create(['ssl' => ['local_cert' => 'cert.pem']]));
$address = 'tls://' . stream_socket_get_name($server, false);
$plain = 'tcp://' . stream_socket_get_name($server, false);
$serving = spawn(function() use ($server) {
    while (true) {
        $c = @stream_socket_accept($server, 600);
        if ($c) spawn(function() use ($c) { while (($line = fgets($c)) !== false) { delay(1); fwrite($c, strrev(trim($line)) . "\n"); } });
    }
});
$noise = [];
for ($i = 0; $i < 4; $i++) $noise[] = spawn(function() use ($i, $plain, $address) {
    while (true) {
        openssl_pkey_get_private('no key');
        openssl_x509_read('no certificate');
        openssl_decrypt('x', 'aes-128-gcm', 'k', 0, 'short', 'tag');
        suspend();
        // and handshakes that fail
        if ($i === 0) { $s = stream_socket_client($plain); fwrite($s, "this is no TLS\n"); fread($s, 10); fclose($s); }
        if ($i === 1) stream_socket_client($address, $e, $m, 600, STREAM_CLIENT_CONNECT, stream_context_create(['ssl' => ['verify_peer' => true]]));
        openssl_pkey_get_private('no key either');
        delay(1);
    }
});
$jobs = [];
for ($i = 0; $i < 6; $i++) $jobs[] = spawn(function() use ($address, $i) {
    $s = stream_socket_client($address, $errno, $error, 600, STREAM_CLIENT_CONNECT, stream_context_create(['ssl' => ['verify_peer' => false, 'verify_peer_name' => false]]));
    if (!$s) return "not connected: $error";
    for ($n = 0; $n < 15; $n++) {
        fwrite($s, "$i line $n\n");
        $answer = fgets($s);
        if ($answer !== strrev("$i line $n") . "\n") return "line $n: " . json_encode($answer);
        if ($n % 4 === 0) suspend();
    }
    return 'all answered';
});
echo implode(', ', array_unique(T\all($jobs))), "\n";
foreach ($noise as $n) $n->cancel();
$serving->cancel();
?>
--EXPECT--
all answered
