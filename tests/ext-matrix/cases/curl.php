<?php
// needs: peer ext:curl
namespace Matrix;

matrix('GET', function (int $i): array {
    $curl = curl(http('/' . ms() . "/answer%20$i"));
    return [\curl_exec($curl), \curl_getinfo($curl, CURLINFO_RESPONSE_CODE)];
}, n: 50);

matrix('POST', function (int $i): array {
    $curl = curl(http('/' . ms()), [CURLOPT_POSTFIELDS => $body = \str_repeat("body $i ", 1000 * ($i + 1))]);
    return [\curl_exec($curl) === $body, \curl_getinfo($curl, CURLINFO_SIZE_UPLOAD)];
});

matrix('https', function (int $i): array {
    $curl = curl(https('/' . ms() . "/secret$i"));
    return [\curl_exec($curl), \curl_getinfo($curl, CURLINFO_SSL_VERIFYRESULT)];
});

matrix('a host name', function (int $i): string {
    return \curl_exec(curl('http://localhost:' . env('MATRIX_HTTP_PORT') . '/' . ms() . "/name$i", [CURLOPT_IPRESOLVE => CURL_IPRESOLVE_V4]));
});

matrix('one handle, kept alive', function (int $i): array {
    $curl = curl(http('/0/first'));
    $answers = [\curl_exec($curl)];
    for ($n = 0; $n < 3; $n++) {
        \curl_setopt($curl, CURLOPT_URL, http('/' . ms(150) . "/$i.$n"));
        $answers[] = \curl_exec($curl);
        $answers[] = \curl_getinfo($curl, CURLINFO_NUM_CONNECTS);
    }
    return $answers;
}, ms: 450);

matrix('timeout', function (int $i): array {
    $curl = curl(http('/10000/late'), [CURLOPT_TIMEOUT_MS => ms()]);
    return [\curl_exec($curl), \curl_errno($curl)];
});

matrix('refused, and unknown', function (int $i): array {
    \curl_exec($refused = curl('http://127.0.0.1:1/'));
    \curl_exec($unknown = curl('http://nowhere.invalid/', [CURLOPT_TIMEOUT_MS => 10_000]));
    return [\curl_errno($refused), \curl_errno($unknown)];
}, n: 3, evidence: 'switch');

matrix('chunks to a write callback that blocks too', function (int $i): array {
    $pieces = [];
    $curl = curl(http('/chunked/' . ms(100) . "/one/two/three/$i"), [
        CURLOPT_WRITEFUNCTION => function ($curl, string $data) use (&$pieces): int {
            \usleep(20_000);
            $pieces[] = $data;
            return \strlen($data);
        },
    ]);
    return [\curl_exec($curl), \implode($pieces)];
}, ms: 400);

matrix('progress, header and read callbacks', function (int $i): array {
    $headers = 0;
    $progress = false;
    $left = $body = \str_repeat("upload $i ", 5000);
    $curl = curl(http('/' . ms()), [
        CURLOPT_UPLOAD => true,
        CURLOPT_INFILESIZE => \strlen($body),
        CURLOPT_READFUNCTION => function ($curl, $file, int $length) use (&$left): string {
            \usleep(1000);
            $part = \substr($left, 0, $length);
            $left = \substr($left, \strlen($part));
            return $part;
        },
        CURLOPT_HEADERFUNCTION => function ($curl, string $line) use (&$headers): int {
            $headers++;
            return \strlen($line);
        },
        CURLOPT_NOPROGRESS => false,
        CURLOPT_PROGRESSFUNCTION => function () use (&$progress): int {
            $progress = true;
            return 0;
        },
    ]);
    return [\curl_exec($curl) === $body, $headers, $progress];
}, n: 10);

matrix('download into a file', function (int $i): array {
    $file = \fopen($name = scratch('download'), 'w+');
    $curl = curl(http('/' . ms() . '/' . \str_repeat("d$i", 10_000)), [CURLOPT_FILE => $file]);
    return [\curl_exec($curl), \md5_file($name)];
}, n: 10);

matrix('curl_multi', function (int $i): array {
    $multi = \curl_multi_init();
    $handles = [];
    foreach ([200, 300, 400] as $n => $delay) {
        \curl_multi_add_handle($multi, $handles[] = curl(http('/' . ms($delay) . "/$i.$n")));
    }
    $rounds = 0;
    do {
        \curl_multi_exec($multi, $running);
        if ($running) {
            \curl_multi_select($multi, 5);
        }
        $rounds++;
    } while ($running);
    $results = [];
    while ($info = \curl_multi_info_read($multi)) {
        $results[] = $info['result'];
    }
    return [\array_map(\curl_multi_getcontent(...), $handles), $results, $rounds < 100];
}, ms: 400);

matrix('curl_multi_select that times out', function (int $i): array {
    $multi = \curl_multi_init();
    \curl_multi_add_handle($multi, $curl = curl(http('/' . ms() . "/late$i")));
    $start = \hrtime(true);
    do {
        \curl_multi_exec($multi, $running);
        $running && \curl_multi_select($multi, 0.005);
    } while ($running);
    return [\curl_multi_getcontent($curl), \hrtime(true) - $start > ms() * 1e6];
}, n: 10);

matrix('a share handle for cookies and DNS', function (int $i): array {
    $share = \curl_share_init();
    \curl_share_setopt($share, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS);
    \curl_share_setopt($share, CURLSHOPT_SHARE, CURL_LOCK_DATA_COOKIE);
    return \array_map(fn(int $n) => \curl_exec(curl(http('/' . ms(250) . "/$i.$n"), [CURLOPT_SHARE => $share])), [0, 1]);
}, n: 10);
