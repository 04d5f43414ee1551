<?php
/*
 * TLS: hosts, versions, certificates, what is broken off.
 */

declare(strict_types=1);

namespace ServerTests;

$cases['TLS: hosts'] = function (App $app) {
    $port = explode(':', $app->address)[1];
    foreach (['one.example' => 'one', 'two.example' => 'two', 'a.two.example' => 'two', 'three.example' => 'one'] as $host => $name) {
        $ask = fn(string $trusted) => shell("curl -s --cacert " . WORK . "/$trusted.pem --resolve $host:$port:127.0.0.1 https://$host:$port/scheme");
        same($host === 'three.example' ? ' (status 60)' : 'https', $ask($name));
        same(' (status 60)', $ask($name === 'one' ? 'two' : 'one'));
    }
};
$cases['TLS: versions, and sessions that are resumed'] = function (App $app) {
    foreach (['1_2' => '--tls-max 1.2', '1_3' => '--tlsv1.3'] as $version => $options) {
        same('https', curl($app, '/scheme', $options));
        // A ticket of version 1.3 comes after the handshake, so the connection has to be used.
        $client = "openssl s_client -connect $app->address -tls$version -CAfile " . WORK . '/one.pem';
        $request = escapeshellarg("printf 'GET /hello HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n'");
        $session = WORK . "/session$version";
        foreach (['-sess_out' => 'New', '-sess_in' => 'Reused'] as $option => $expected) {
            $printed = shell("bash -c " . escapeshellarg("bash -c $request | $client -ign_eof $option $session"));
            preg_match('/^(New|Reused), TLSv/m', $printed, $found);
            same([$expected, true], [$found[1] ?? $printed, str_contains($printed, "\nHello")]);
        }
    }
    same(' (status 35)', curl($app, '/scheme', '--tlsv1.0 --tls-max 1.1 --ciphers DEFAULT@SECLEVEL=0'));
};
$cases['TLS: certificates are replaced while a connection is open'] = function (App $app) {
    $before = $app->stats()['reloads'];
    file_put_contents(WORK . '/old.pem', file_get_contents(WORK . '/one.pem'));
    $urls = "$app->url/slow $app->url/scheme";
    $slow = popen('curl -s --cacert ' . WORK . "/old.pem -w '%{num_connects}' $urls", 'r');
    until(fn() => $app->stats()['running'] === 2);
    certificate('one', 'DNS:one.example,IP:127.0.0.1');
    $app->signal(SIGHUP);
    until(fn() => (json_decode(curl($app, '/stats'), true)['reloads'] ?? 0) > $before); // with the new one only
    same('slow1https0', stream_get_contents($slow));
    same(' (status 60)', shell('curl -s --cacert ' . WORK . "/old.pem $app->url/scheme"));
};
$cases['TLS: what is whole and what is not'] = function (App $app) {
    same("whole\ncut\nwhole", python($app, <<<'PY'
        def ask(path, version='1.0'):
            s = trust.wrap_socket(socket.create_connection(address), server_hostname=host, suppress_ragged_eofs=False)
            s.sendall(f'GET {path} HTTP/{version}\r\nHost: x\r\nConnection: close\r\n\r\n'.encode())
            try:
                while s.recv(65536): pass
                print('whole')
            except ssl.SSLEOFError: print('cut')
        ask('/zero')
        ask('/cut')
        ask('/download', '1.1')
        PY));
};
$cases['TLS: clients that speak something else, are slow, or leave in the handshake'] = function (App $app) {
    $answer = shell("curl -s -i http://$app->address/hello");
    same([true, true], [str_starts_with($answer, 'HTTP/1.1 400 '), str_contains($answer, 'https')]);
    same('fine', python($app, <<<'PY'
        random.seed(1)
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        try: trust.wrap_bio(incoming, outgoing, server_hostname='one.example').do_handshake()
        except ssl.SSLWantReadError: hello = outgoing.read()
        # The time limit of heads is 2 seconds here.
        for start in [b'', hello[:100], hello]:
            s = socket.create_connection(address)
            s.sendall(start); begun = time.monotonic()
            while s.recv(65536): pass
            assert time.monotonic() - begun > 1.5, start
        s = trust.wrap_socket(socket.create_connection(address), server_hostname=host)
        s.sendall(b'GET / HT'); begun = time.monotonic()
        try: assert s.recv(100) == b''
        except ssl.SSLEOFError: pass
        assert time.monotonic() - begun > 1.5
        for i in range(300):
            s = socket.create_connection(address)
            s.sendall(bytes(random.choices(range(256), k=50)) if i % 3 == 0 else hello[:random.randrange(len(hello))])
            if i % 2: s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
            s.close()
        for i in range(100):
            s = trust.wrap_socket(socket.create_connection(address), server_hostname=host)
            s.sendall(random.choice([b'GET /wait HTTP/1.1\r\nHost: x\r\n\r\n', b'GET /download HTTP/1.1\r\nHost: x\r\n\r\n', b'POST /md5 HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc']))
            if i % 3: s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
            s.close()
        print('fine')
        PY));
    until(function () use ($app) {
        $stats = $app->stats();
        return $stats['connections'] === 1 && $stats['running'] === 1 && $stats['begun'] === $stats['ended'];
    });
};
