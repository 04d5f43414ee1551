--TEST--
IO-2 TLS streams: handshakes, data in both directions and end of file, server and clients in one process
--EXTENSIONS--
openssl
--FILE--
<?php
use function Async\spawn;

require __DIR__ . '/kit.inc';
T\work_in();

$key = openssl_pkey_new(['private_key_type' => OPENSSL_KEYTYPE_EC, 'curve_name' => 'prime256v1']);
$certificate = openssl_csr_sign(openssl_csr_new(['commonName' => 'localhost'], $key), null, $key, 1);
openssl_x509_export($certificate, $pem);
openssl_pkey_export($key, $keyPem);
file_put_contents('cert.pem', $pem . $keyPem);

$server = stream_socket_server('tls://127.0.0.1:0', $errno, $error, STREAM_SERVER_BIND | STREAM_SERVER_LISTEN, stream_context_create(['ssl' => ['local_cert' => 'cert.pem']]));
$address = 'tls://' . stream_socket_get_name($server, false);
$ticks = new T\Ticks;
$serving = spawn(function() use ($server, $ticks) {
    while ($client = @stream_socket_accept($server, 600)) {
        spawn(function() use ($client, $ticks) {
            $length = (int) fgets($client);
            $data = '';
            while (strlen($data) < $length) $data .= fread($client, min(8192, $length - strlen($data)));
            $ticks->more();
            fwrite($client, strrev($data));
            fclose($client);
        });
    }
});
$jobs = [];
for ($i = 0; $i < 10; $i++) {
    $jobs[$i] = spawn(function() use ($address, $i) {
        $s = stream_socket_client($address, $errno, $error, 600, STREAM_CLIENT_CONNECT, stream_context_create(['ssl' => ['verify_peer' => false, 'verify_peer_name' => false]]));
        $data = str_repeat("$i abc", 1 + $i * 10_000);
        fwrite($s, strlen($data) . "\n$data");
        $answer = stream_get_contents($s);
        return $answer === strrev($data) && feof($s);
    });
}
var_dump(array_unique(T\all($jobs)));
$ticks->stop();
$serving->cancel();
?>
--EXPECT--
array(1) {
  [0]=>
  bool(true)
}
