<?php
/*
 * Requests of curl, wrk and Python, and clients that leave.
 */

declare(strict_types=1);

namespace ServerTests;

foreach (PROTOCOLS as $protocol => $option) {
    $cases["$protocol: a page"] = function (App $app) use ($protocol, $option) {
        same('Hello', curl($app, '/hello', $option));
        same(str_replace(' over TLS', '', $protocol), curl($app, '/protocol', $option));
        same(strtok($app->url, ':'), curl($app, '/scheme', $option));
        same('ab', curl($app, '/zero', $option));
        same('404', curl($app, '/nothing', "$option -o /dev/null -w '%{http_code}'"));
        same('500', curl($app, '/throw', "$option -o /dev/null -w '%{http_code}'"));
        same(1, preg_match('~^HTTP/\S+ 200.*content-length: 5\s~is', curl($app, '/hello', "$option -I")));
        same('Hello', curl($app, '/hello', "$option -X OPTIONS"));
    };
    $cases["$protocol: bodies"] = function (App $app) use ($data, $option) {
        $expected = md5($data) . ' ' . strlen($data);
        foreach (['/md5', '/pieces'] as $path) {
            same($expected, curl($app, $path, "$option --data-binary @" . WORK . '/data'));
            same($expected, curl($app, $path, "$option -T - -X POST < " . WORK . '/data -H "Expect: 100-continue"'));
        }
        same('not read', curl($app, '/unread', "$option -d small"));
        // The rest of the stream is reset without an error then, for which older versions of curl forget the response (92).
        $large = fn(string $how) => in_array(curl($app, '/md5', "$option -o /dev/null -w '%{http_code}' $how" . WORK . '/large'),
            $option === '--http1.1' ? ['413'] : ['413', '000 (status 92)'], true) || throw new \Exception("not refused: $how");
        $large('--data-binary @');
        $large('-T - -X POST < ');
        same(md5(implode('', array_map(fn($i) => str_repeat(chr($i), 16384), range(0, 255)))), substr(curl($app, '/download', $option . ' -o ' . WORK . '/download') . md5_file(WORK . '/download'), 0, 32));
        same('data:' . md5($data) . ' x', curl($app, '/files', "$option -F a=x -F f=@" . WORK . '/data'));
        same(1, preg_match('/x-sum/i', curl($app, '/trailer', "$option -v -H 'TE: trailers'")));
    };
    // curl 7.88 loses transfers that share a connection of HTTP/2: crates/server/tests/http2.rs has that.
    if ($option === '--http1.1') $cases["$protocol: many at once"] = function (App $app) use ($option) {
        $urls = implode(' ', array_fill(0, 50, "$app->url/fifty"));
        same(str_repeat('here', 50), str_replace("\n", '', shell("curl -s -k --no-progress-meter $option --parallel --parallel-max 50 $urls")));
    };
    $cases["$protocol: files"] = function (App $app) use ($data, $option) {
        $code = fn(string $path, string $options) => curl($app, $path, "$option -o " . WORK . "/download -w '%{http_code} %{size_download}' $options");
        // A file that has just changed has no tag yet.
        until(function () use ($app, $option, &$tag) { return preg_match('/^etag: (".*?")\s*$/im', curl($app, '/files/data', "$option -I"), $tag); });
        $before = $app->stats()['files'];
        same('200 5700000', $code('/files/large', ''));
        same(md5_file(WORK . '/large'), md5_file(WORK . '/download'));
        same('200 5700000', $code('/files/large', '--limit-rate 8M'));
        same('206 1000', $code('/files/data', '-r 1000-1999'));
        same(substr($data, 1000, 1000), file_get_contents(WORK . '/download'));
        same(1, preg_match('~^HTTP/\S+ 200.*content-length: 1900000\s~is', curl($app, '/files/data', "$option -I")));
        same('304 0', $code('/files/data', '-H ' . escapeshellarg("If-None-Match: $tag[1]")));
        // What was cut off is resumed.
        file_put_contents(WORK . '/resumed', substr($data, 0, 777_777));
        same('206 1122223', curl($app, '/files/data', "$option -C - -o " . WORK . "/resumed -w '%{http_code} %{size_download}'"));
        same($data, file_get_contents(WORK . '/resumed'));
        file_put_contents(WORK . '/page.html', '<p>');
        shell('gzip -kf ' . WORK . '/page.html');
        same('<p>', curl($app, '/files/page.html', "$option --compressed"));
        same(1, preg_match('/^content-encoding: gzip/im', curl($app, '/files/page.html', "$option --compressed -D - -o /dev/null")));
        same('404 9', $code('/files/none', ''));
        same('404 9', $code('/files/..%2fstderr', '--path-as-is'));
        same('404 9', $code('/files/../etc/passwd', '--path-as-is'));
        same(8, $app->stats()['files'] - $before);
    };
    $cases["$protocol: a slow reader"] = function (App $app) use ($option) {
        same('4194304', curl($app, '/download', "$option --limit-rate 4M -o /dev/null -w '%{size_download}'"));
        same('1900000', curl($app, '/slowly', "$option --data-binary @" . WORK . '/data')); // and a slow handler
    };
    $cases["$protocol: a client that leaves"] = function (App $app) use ($option) {
        $before = $app->stats()['ended'];
        shell("curl -s -k $option --max-time 0.3 $app->url/wait");
        until(fn() => $app->stats()['ended'] > $before && $app->stats()['running'] === 1);
    };
}

foreach (PROTOCOLS as $protocol => $option) $cases["$protocol: compressed responses"] = function (App $app) use ($option) {
    $lines = implode('', array_map(fn($i) => "line $i of many\n", range(1, 20_000)));
    foreach (['gzip', 'br', 'zstd'] as $coding) {
        foreach (['/lines', '/lines-in-pieces'] as $path) {
            $ask = "$option -H 'Accept-Encoding: $coding' -o " . WORK . "/coded -D " . WORK . "/head -w '%{size_download}'";
            $size = (int) curl($app, $path, $ask);
            same(true, $size > 100 && $size < strlen($lines) / 3);
            $head = strtolower(file_get_contents(WORK . '/head'));
            same([1, 1, 0], [substr_count($head, "content-encoding: $coding\r\n"), substr_count($head, "vary: accept-encoding\r\n"), substr_count($head, 'content-length')]);
            $decode = ['gzip' => 'gzip -dc', 'br' => 'brotli -dc', 'zstd' => 'zstd -dcq'][$coding];
            same(md5($lines), strtok(shell("$decode < " . WORK . '/coded | md5sum'), ' '));
            same(md5($lines), md5(curl($app, $path, "$option -H 'Accept-Encoding: $coding' --compressed") . "\n"));
        }
        same('', curl($app, '/lines', "$option -I -H 'Accept-Encoding: $coding' -o /dev/null"));
    }
    same(md5($lines), md5(curl($app, '/lines', $option) . "\n"));
    // Each piece comes when it was written, although the handler waits for ever then.
    same('first', shell("bash -c " . escapeshellarg("timeout 10 curl -skN $option --compressed '$app->url/first-and-wait' | head -1")));
    until(fn() => $app->stats()['running'] === 1);
};
$cases['http.client'] = function (App $app) {
    file_put_contents(WORK . '/client.py', <<<'PY'
        import http.client, sys
        c = http.client.HTTPConnection(sys.argv[1])
        for i in range(100):
            c.request('POST' if i % 2 else 'GET', '/md5', body=b'x' * i if i % 2 else None)
            r = c.getresponse(); b = r.read()
            assert r.status == 200 and b.endswith(b' %d' % (i if i % 2 else 0)), b
        c.request('POST', '/pieces', body=iter([b'abc', b'', b'de']), encode_chunked=True, headers={'Transfer-Encoding': 'chunked'})
        assert c.getresponse().read().endswith(b' 5')
        c.request('HEAD', '/hello'); r = c.getresponse(); assert r.read() == b'' and r.getheader('content-length') == '5'
        c.request('GET', '/download'); assert len(c.getresponse().read()) == 4194304
        print('fine')
        PY);
    same('fine', shell('python3 ' . WORK . "/client.py $app->address"));
};
$cases['wrk'] = function (App $app) {
    foreach (['-t1 -c64', '-t2 -c200'] as $load) {
        $output = shell("wrk $load -d2s http://$app->address/hello");
        preg_match('/(\d+) requests in/', $output, $found) && $found[1] > 500 || throw new \Exception($output);
        preg_match('/Socket errors|Non-2xx/', $output) && throw new \Exception($output);
    }
    until(fn() => $app->stats()['connections'] === 1);
};
$cases['clients that leave at any time leave nothing behind'] = function (App $app) {
    file_put_contents(WORK . '/leave.py', <<<'PY'
        import socket, struct, sys, random
        host, port = sys.argv[1].split(':'); random.seed(int(sys.argv[3]))
        heads = [b'GET /wait HTTP/1.1\r\nHost: x\r\n\r\n', b'POST /md5 HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc',
            b'GET /download HTTP/1.1\r\nHost: x\r\n\r\n', b'GET /hello HTTP/1.1\r\nHo', b'', b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0',
            b'GET /hello HTTP/1.1\r\nHost: x\r\n\r\n' * 3, b'POST /wait HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab']
        for i in range(int(sys.argv[2])):
            s = socket.create_connection((host, int(port)))
            s.sendall(random.choice(heads))
            if random.random() < 0.3: s.settimeout(0.002); 
            try:
                if random.random() < 0.3: s.recv(random.choice([1, 100, 100000]))
            except OSError: pass
            if random.random() < 0.5: s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
            s.close()
        print('fine')
        PY);
    // One that waits for an answer that never comes is none of ours.
    $leave = fn(int $count, int $seed) => same('fine', shell('python3 -c ' . escapeshellarg(
        'import socket; socket.setdefaulttimeout(0.05); import sys; exec(open(sys.argv.pop(1)).read())') . ' ' . WORK . "/leave.py $app->address $count $seed"));
    $quiet = fn() => until(function () use ($app) {
        $stats = $app->stats();
        return $stats['connections'] === 1 && $stats['running'] === 1 && $stats['begun'] === $stats['ended'];
    });
    $leave(500, 1);
    $quiet();
    $before = $app->stats();
    for ($left = DISCONNECTS, $seed = 2; $left > 0; $left -= 500) $leave(500, $seed++);
    $quiet();
    $after = $app->stats();
    same($before['descriptors'], $after['descriptors']);
    same($before['coroutines'], $after['coroutines']);
    $after['rss'] - $before['rss'] < 8192 || throw new \Exception("grown by " . $after['rss'] - $before['rss'] . ' KiB');
};
