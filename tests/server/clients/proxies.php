<?php
/*
 * Behind proxies.
 */

declare(strict_types=1);

namespace ServerTests;

$cases['the PROXY protocol'] = function () {
    file_put_contents(WORK . '/proxied.php', <<<'PHP'
        <?php
        $server = new Async\Http\Server(['trusted_proxies' => ['127.0.0.1']]);
        $server->listen('127.0.0.1:0', isset($argv[1]) ? new Async\Http\Tls('one.pem', 'one.key') : null, proxyProtocol: true);
        $server->worker(function () { echo "$_SERVER[REMOTE_ADDR] $_SERVER[REMOTE_PORT]"; });
        Async\spawn(function () use ($server) { Async\await(Async\signal(SIGTERM)); $server->stop(); });
        echo $server->address(), "\n";
        $server->run();
        PHP);
    $app = new App(WORK . '/proxied.php');
    $own = '~^127\.0\.0\.1 \d+$~';
    foreach (['--http1.1', '--http2-prior-knowledge'] as $option) {
        same(1, preg_match($own, curl($app, '/', "$option --haproxy-protocol")));
        same(1, preg_match('/status (16|18|52|56)/', curl($app, '/', $option)));
    }
    $secure = new App(WORK . '/proxied.php', 'tls');
    foreach (['--http1.1', '--http2'] as $option) {
        $url = "https://$secure->address/";
        same(1, preg_match($own, shell("curl -s --cacert " . WORK . "/one.pem --max-time 30 --haproxy-protocol $option $url")));
        same(' (status 35)', shell("curl -s --cacert " . WORK . "/one.pem --max-time 30 $option $url"));
    }
    same("1.2.3.4 8080\n2001:db8::1 8080\nclosed\nclosed", python($app, <<<'PY'
        signature = b'\r\n\r\n\0\r\nQUIT\n'
        four = bytes([1, 2, 3, 4, 127, 0, 0, 1]) + struct.pack('>HH', 8080, 80) + bytes([4, 0, 2, 9, 9])
        six = socket.inet_pton(socket.AF_INET6, '2001:db8::1') + socket.inet_pton(socket.AF_INET6, '::1') + struct.pack('>HH', 8080, 80)
        request = b'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
        for head in [b'\x21\x11' + struct.pack('>H', len(four)) + four, b'\x21\x21' + struct.pack('>H', len(six)) + six,
                b'\x31\x11' + struct.pack('>H', len(four)) + four, b'\x21\x11\0\x04' + four]:
            s = socket.create_connection(address)
            got = b''
            try:
                for byte in signature + head + request: s.sendall(bytes([byte]))
                while piece := s.recv(65536): got += piece
            except OSError: pass
            print(got.split(b'\r\n\r\n')[1].decode() if got else 'closed')
        PY));
    foreach ([$app, $secure] as $one) {
        $one->signal();
        same('', $one->rest());
    }
};

foreach (['nginx', 'caddy', 'haproxy'] as $proxy) {
    $cases["behind $proxy, as documented"] = function () use ($proxy) {
        file_put_contents(WORK . '/behind.php', <<<'PHP'
            <?php
            use Async\Http\{Request, Response, Server};
            $server = new Server(['trusted_proxies' => ['unix'], 'max_body_size' => 1 << 30]);
            $server->listen('unix:' . __DIR__ . '/behind.sock');
            $server->handle(function (Request $r) {
                if ($r->isWebSocket()) {
                    $socket = $r->upgrade();
                    foreach ($socket as $message) $socket->send("You say: $message");
                    return null;
                }
                return match ($r->path()) {
                    '/who' => "{$r->scheme()}://{$r->host()}/ {$r->clientAddress()}",
                    '/events' => Response::events((function () {
                        yield 'one';
                        while (!file_exists(__DIR__ . '/behind.go')) Async\delay(10);
                        yield 'two';
                    })()),
                    '/upload' => (function () use ($r) {
                        touch(__DIR__ . '/behind.begun');
                        for ($hash = hash_init('md5'); ($piece = $r->read()) !== null;) hash_update($hash, $piece);
                        return hash_final($hash);
                    })(),
                    default => new Response('', 404),
                };
            });
            Async\spawn(function () use ($server) { Async\await(Async\signal(SIGTERM)); $server->stop(5); });
            echo "ready\n";
            $server->run();
            PHP);
        array_map(fn($file) => @unlink(WORK . "/behind.$file"), ['go', 'begun', 'sock']);
        $app = new App(WORK . '/behind.php');
        $port = free_port();
        $lines = str_replace(['/run/app/app.sock', 'listen 80;', 'bind :80', 'shop.example {'],
            [WORK . '/behind.sock', "listen 127.0.0.1:$port;", "bind 127.0.0.1:$port", "http://:$port {"], documented($proxy));
        $running = new Proxy($proxy, $proxy === 'caddy' ? "{\n    admin off\n}\n$lines" : $lines, $port);
        {
            $curl = fn(string $path, string $options = '') => shell("curl -s --max-time 60 $options http://127.0.0.1:$port$path");
            // What a client says of itself is not believed.
            $lies = "-H 'X-Forwarded-For: 6.6.6.6' -H 'X-Forwarded-Proto: https' -H 'X-Forwarded-Host: evil' -H 'Forwarded: for=6.6.6.6'";
            same('http://shop.example/ 127.0.0.1', $curl('/who', "-H 'Host: shop.example' $lies"));
            $events = popen("curl -sN --max-time 60 http://127.0.0.1:$port/events", 'r');
            same("data: one\n", fgets($events));
            touch(WORK . '/behind.go');
            same("\ndata: two\n\n", stream_get_contents($events));
            // The handler begins before the body is complete.
            $client = stream_socket_client("tcp://127.0.0.1:$port");
            fwrite($client, "POST /upload HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 1000000\r\n\r\n" . str_repeat('a', 500_000));
            until(fn() => file_exists(WORK . '/behind.begun'));
            fwrite($client, str_repeat('a', 500_000));
            same(true, str_contains(stream_get_contents($client), md5(str_repeat('a', 1_000_000))));
            $client = stream_socket_client("tcp://127.0.0.1:$port");
            fwrite($client, "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                . "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
            same("HTTP/1.1 101 Switching Protocols\r\n", fgets($client));
            while (!in_array(fgets($client), ["\r\n", false], true));
            fwrite($client, "\x81\x85\0\0\0\0hello");
            same("\x81\x0eYou say: hello", fread($client, 16));
            fclose($client);
            $app->signal();
            same('', $app->rest());
        }
    };
}
