<?php
// needs: peer
namespace Matrix;

// The peer would often have answered before it is waited for.
$late = slowed(env('MATRIX_TLS_PORT'));
$key = \openssl_pkey_new(['private_key_type' => OPENSSL_KEYTYPE_EC, 'curve_name' => 'prime256v1']);
\openssl_pkey_export($key, $pem);
check('openssl_sign', static function ($key, int $n) { $ok = \openssl_sign(text("m$n"), $signature, $key, text('sha256')); return [$ok, \openssl_verify("m$n", $signature, \openssl_pkey_get_details($key)['key'], 'sha256')]; }, static fn() => \openssl_pkey_get_private($pem), in: 'openssl_sign');
check('openssl_encrypt', static fn($_, int $n) => \openssl_decrypt(\openssl_encrypt(text("m$n"), text('aes-128-cbc'), text('0123456789012345'), 0, text('0123456789012345')), 'aes-128-cbc', '0123456789012345', 0, '0123456789012345'), in: 'openssl_encrypt');
check('openssl_encrypt, complaining', static fn($_, int $n) => noisily(fn() => \openssl_encrypt("m$n", 'aes-128-cbc', 'short', 0, 'short')), in: 'openssl_encrypt');
check('openssl_x509_read', static fn($_, int $n) => noisily(fn() => \openssl_x509_read("nothing $n")), in: 'openssl_x509_read');
check('openssl_csr_new', static function ($_, int $n) use ($pem) { $key = \openssl_pkey_get_private($pem); $csr = \openssl_csr_new(['commonName' => text("name$n")], $key); return \openssl_csr_get_subject($csr); }, in: 'openssl_csr_new');
check('openssl_digest', static fn($_, int $n) => \openssl_digest(text("m$n"), text('sha256')), in: 'openssl_digest');
check('openssl_pkcs12_export', static fn($_, int $n) => noisily(static function () use ($n) { return \openssl_pkcs12_export("no certificate $n", $out, 'no key', text('x')); }), in: 'openssl_pkcs12_export');
check('TLS', static function ($stream, int $n) { \fwrite($stream, "50 answer\n"); return \fgets($stream); }, static fn() => \stream_socket_client('tls://localhost:' . \getenv('MATRIX_TLS_PORT'), $code, $message, 10, STREAM_CLIENT_CONNECT, \stream_context_create(['ssl' => ['verify_peer' => false]])), anywhere: true);
check('a TLS handshake', static fn($_, int $n) => \get_resource_type(\stream_socket_client("tls://localhost:$late", $code, $message, 10, STREAM_CLIENT_CONNECT, \stream_context_create(['ssl' => ['verify_peer' => false]]))), anywhere: true);
check('TLS, complaining', static fn($_, int $n) => \count(noisily(static fn() => \stream_socket_client("tls://localhost:$late"))[1]), anywhere: true);
