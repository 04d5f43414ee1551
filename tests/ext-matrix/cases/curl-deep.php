<?php
// needs: peer ext:curl
// cURL beyond single requests: callbacks that block, uploads, TLS, shares, multi handles.
namespace Matrix;

matrix('every callback blocks', function (int $i): array {
    $calls = ['header' => 0, 'write' => 0, 'progress' => 0, 'debug' => 0];
    $block = function (string $which) use (&$calls): void {
        // (progress is told often)
        ++$calls[$which] <= 5 and \usleep(ms(20) * 1000);
    };
    $body = '';
    $curl = curl(http('/chunked/' . ms(50) . "/one/two/three/$i"), [
        CURLOPT_HEADERFUNCTION => function ($curl, string $line) use ($block): int {
            $block('header');
            return \strlen($line);
        },
        CURLOPT_WRITEFUNCTION => function ($curl, string $data) use ($block, &$body): int {
            $block('write');
            $body .= $data;
            return \strlen($data);
        },
        CURLOPT_NOPROGRESS => false,
        CURLOPT_XFERINFOFUNCTION => function () use ($block): int {
            $block('progress');
            return 0;
        },
    ]);
    return [\curl_exec($curl), $body, $calls['header'], $calls['progress'] > 0];
}, n: 6, ms: 300);

matrix('a request within a callback of another', function (int $i): array {
    $inner = [];
    $curl = curl(http("/chunked/" . ms(100) . "/a/b"), [CURLOPT_WRITEFUNCTION => function ($curl, string $data) use ($i, &$inner): int {
        $inner[] = \curl_exec(curl(http('/' . ms(100) . "/$data$i")));
        return \strlen($data);
    }]);
    return [\curl_exec($curl), \implode(',', $inner) === "a$i,b$i" || $inner === ["ab$i"]];
}, n: 6, ms: 300);

matrix('a callback that breaks off', function (int $i): array {
    $write = curl(http('/' . ms(150) . '/never'), [CURLOPT_WRITEFUNCTION => function (): int {
        \usleep(1000);
        return 0;
    }]);
    $progress = curl(http('/20000/never'), [CURLOPT_NOPROGRESS => false, CURLOPT_XFERINFOFUNCTION => function () {
        static $start = null;
        $start ??= \hrtime(true);
        return (int) (\hrtime(true) - $start > ms(150) * 1e6);
    }]);
    \usleep(1000);
    return [\curl_exec($write), \curl_errno($write), \curl_exec($progress), \curl_errno($progress)];
}, n: 5, ms: 300); // progress is told once a second when nothing happens

matrix('a callback that throws', function (int $i): array {
    $curl = curl(http('/' . ms(300) . '/text'), [CURLOPT_WRITEFUNCTION => function () use ($i): int {
        \usleep(1000);
        throw new \DomainException("thrown by $i");
    }]);
    try {
        $answer = \curl_exec($curl);
    } catch (\DomainException $e) {
        $answer = $e->getMessage();
    }
    \curl_setopt_array($curl, [CURLOPT_WRITEFUNCTION => null, CURLOPT_RETURNTRANSFER => true, CURLOPT_URL => http("/0/again$i")]);
    return [$answer, \curl_exec($curl)];
}, n: 6, ms: 300);

matrix('an upload from a file', function (int $i): array {
    \file_put_contents($name = scratch('upload'), $data = \random_bytes(1 << 20));
    $file = \fopen($name, 'r');
    $curl = curl(http('/' . ms(300)), [CURLOPT_UPLOAD => true, CURLOPT_INFILE => $file, CURLOPT_INFILESIZE => \strlen($data)]);
    return [\curl_exec($curl) === $data, \curl_getinfo($curl, CURLINFO_SIZE_UPLOAD_T), \ftell($file)];
}, n: 6, ms: 300);

matrix('an upload from a pipe that is slow', function (int $i): array {
    $process = \popen('for n in 1 2 3; do sleep ' . seconds(100) . "; echo line \$n of $i; done", 'r');
    $length = \strlen("line 1 of $i\n") * 3;
    $curl = curl(http('/0'), [CURLOPT_UPLOAD => true, CURLOPT_INFILESIZE => $length,
        CURLOPT_READFUNCTION => fn($curl, $file, int $most) => (string) \fgets($process, $most)]);
    return [\curl_exec($curl), \pclose($process)];
}, n: 6, ms: 300);

matrix('a form with a file', function (int $i): array {
    \file_put_contents($name = scratch('form'), "content of $i\n");
    $answer = \curl_exec(curl(http('/' . ms(300)), [CURLOPT_POSTFIELDS => [
        'field' => "value $i", 'file' => new \CURLFile($name, 'text/plain', 'name.txt'), 'string' => new \CURLStringFile("string $i", 's.txt')]]));
    return \array_map(fn($part) => \str_contains($answer, $part), ["value $i", "content of $i\n", 'filename="name.txt"', "string $i"]);
}, n: 6, ms: 300);

matrix('TLS: who is trusted, and who is not', function (int $i): array {
    $codes = [];
    foreach ([
        'trusted' => [https('/' . ms(300) . '/a'), []],
        'another name' => [\str_replace('localhost', '127.0.0.2', https('/0/b')), []],
        'unknown' => [https('/0/c'), [CURLOPT_CAINFO => null, CURLOPT_CAPATH => '/nowhere']],
        'not asked' => [https('/0/d'), [CURLOPT_CAINFO => null, CURLOPT_SSL_VERIFYPEER => false, CURLOPT_SSL_VERIFYHOST => 0]],
        'too old' => [https('/0/e'), [CURLOPT_SSLVERSION => CURL_SSLVERSION_MAX_TLSv1_1]],
        'resolved' => ['https://localhost:' . env('MATRIX_HTTPS_PORT') . '/0/f', [CURLOPT_RESOLVE => ['localhost:' . env('MATRIX_HTTPS_PORT') . ':127.0.0.1']]],
    ] as $what => [$url, $options]) {
        $curl = curl($url, $options);
        $codes[$what] = [\curl_exec($curl), \curl_errno($curl) === 0, \curl_getinfo($curl, CURLINFO_SSL_VERIFYRESULT)];
    }
    return $codes;
}, n: 6, ms: 300);

matrix('kept alive, on a pool that a multi handle keeps', function (int $i): array {
    $multi = \curl_multi_init();
    \curl_multi_setopt($multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, 4);
    $bodies = [];
    $connects = 0;
    for ($round = 0; $round < 3; $round++) {
        $handles = [];
        for ($n = 0; $n < 4; $n++) {
            \curl_multi_add_handle($multi, $handles[] = curl(http('/' . ms(100) . "/$i.$round.$n")));
        }
        do {
            \curl_multi_exec($multi, $running);
            $running && \curl_multi_select($multi, 5);
        } while ($running);
        foreach ($handles as $handle) {
            $bodies[] = \curl_multi_getcontent($handle);
            $connects += \curl_getinfo($handle, CURLINFO_NUM_CONNECTS);
            \curl_multi_remove_handle($multi, $handle);
        }
    }
    return [$bodies, $connects];
}, n: 6, ms: 300);

matrix('fifty transfers in one multi handle', function (int $i): array {
    $multi = \curl_multi_init();
    $handles = [];
    for ($n = 0; $n < 50; $n++) {
        \curl_multi_add_handle($multi, $handles[$n] = curl(http('/' . ms(100 + $n % 5 * 50) . "/$i.$n")));
    }
    $done = [];
    do {
        \curl_multi_exec($multi, $running);
        while ($info = \curl_multi_info_read($multi)) {
            $done[] = \array_search($info['handle'], $handles, true);
        }
        $running && \curl_multi_select($multi, 5);
    } while ($running);
    \sort($done);
    return [\array_map(\curl_multi_getcontent(...), $handles), $done === \range(0, 49)];
}, n: 4, ms: 300);

matrix('a handle that joins while others run', function (int $i): array {
    $multi = \curl_multi_init();
    $log = [];
    \curl_multi_add_handle($multi, $first = curl(http('/' . ms(150) . "/first$i")));
    do {
        \curl_multi_exec($multi, $running);
        while ($info = \curl_multi_info_read($multi)) {
            $log[] = \curl_multi_getcontent($info['handle']);
            if ($info['handle'] === $first) {
                \curl_multi_add_handle($multi, $second = curl(http('/' . ms(150) . "/second$i")));
                $running = 1;
            }
        }
        $running && \curl_multi_select($multi, 5);
    } while ($running);
    return $log;
}, n: 6, ms: 300);

$share = \curl_share_init();
\curl_share_setopt($share, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS);
\curl_share_setopt($share, CURLSHOPT_SHARE, CURL_LOCK_DATA_COOKIE);
\curl_share_setopt($share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
matrix('one share handle for all', function (int $i) use ($share): array {
    $answers = [];
    foreach (['http', 'https'] as $scheme) {
        $answers[] = \curl_exec(curl(($scheme === 'http' ? http(...) : https(...))('/' . ms(150) . "/$i.$scheme"), [CURLOPT_SHARE => $share]));
    }
    return $answers;
}, n: 6, ms: 300);

matrix('time limits of each kind', function (int $i): array {
    $full = new FullListener;
    $codes = [];
    foreach ([
        'connect' => [\str_replace('tcp', 'http', $full->address), [CURLOPT_CONNECTTIMEOUT_MS => ms(100)]],
        'all of it' => [http('/20000/late'), [CURLOPT_TIMEOUT_MS => ms(100)]],
        'in the middle of the body' => [http('/chunked/20000/a/b'), [CURLOPT_TIMEOUT_MS => ms(100)]],
    ] as $what => [$url, $options]) {
        $curl = curl($url, $options);
        \curl_exec($curl);
        $codes[$what] = [\curl_errno($curl), \curl_getinfo($curl, CURLINFO_TOTAL_TIME_T) >= ms(100) * 1000 - 1000];
    }
    return $codes;
}, n: 6, ms: 300);

matrix('pause and go on', function (int $i): array {
    $body = '';
    $paused = 0;
    $curl = curl(http("/chunked/" . ms(50) . "/one/two/three"), [CURLOPT_WRITEFUNCTION => function ($curl, string $data) use (&$body, &$paused) {
        if ($paused++ === 0) {
            return CURL_WRITEFUNC_PAUSE;
        }
        $body .= $data;
        return \strlen($data);
    }]);
    $multi = \curl_multi_init();
    \curl_multi_add_handle($multi, $curl);
    $start = \hrtime(true);
    $resumed = false;
    do {
        \curl_multi_exec($multi, $running);
        if (!$resumed && $paused > 0 && \hrtime(true) - $start > ms(300) * 1e6) {
            $resumed = true;
            \curl_pause($curl, CURLPAUSE_CONT);
        }
        $running && \curl_multi_select($multi, 0.01);
        \usleep(1000); // a paused transfer has nothing to wait for: select comes back at once
    } while ($running);
    return [$body, $resumed];
}, n: 6, ms: 300);

matrix('other protocols: file, telnet', function (int $i): array {
    \file_put_contents($name = scratch('file'), "a file $i");
    // (telnet reads its input by itself: it gives up when the other side hangs up)
    [$ours, $theirs] = [\stream_socket_server('tcp://127.0.0.1:0'), null];
    $other = beside(function () use ($ours, $i): string {
        $stream = \stream_socket_accept($ours, 10);
        \usleep(ms(300) * 1000);
        return (string) \fwrite($stream, "hello $i\n");
    });
    $telnet = curl('telnet://' . \stream_socket_get_name($ours, false), [CURLOPT_TIMEOUT => 10, CURLOPT_INFILE => \fopen('/dev/null', 'r')]);
    return [\curl_exec(curl("file://$name")), \curl_exec($telnet), $other()];
}, n: 5, ms: 300);
