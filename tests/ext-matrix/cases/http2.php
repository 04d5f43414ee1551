<?php
// needs: peer http2 ext:curl
// HTTP/2 by cURL, against Apache.
namespace Matrix;

function http2(string $path, array $options = []): \CurlHandle
{
    return curl('https://localhost:' . env('MATRIX_HTTP2_PORT') . $path, $options + [CURLOPT_HTTP_VERSION => CURL_HTTP_VERSION_2TLS]);
}

matrix('GET', function (int $i): array {
    $curl = http2('/' . ms() . "/answer$i");
    return [\curl_exec($curl), \curl_getinfo($curl, CURLINFO_HTTP_VERSION) === CURL_HTTP_VERSION_2_0, \curl_getinfo($curl, CURLINFO_SSL_VERIFYRESULT)];
});

matrix('one connection, one request after another', function (int $i): array {
    $curl = http2('/' . ms(100) . "/$i.0");
    $answers = [\curl_exec($curl)];
    for ($n = 1; $n < 4; $n++) {
        \curl_setopt($curl, CURLOPT_URL, 'https://localhost:' . env('MATRIX_HTTP2_PORT') . '/' . ms(100) . "/$i.$n");
        $answers[] = [\curl_exec($curl), \curl_getinfo($curl, CURLINFO_NUM_CONNECTS)];
    }
    return $answers;
}, n: 8, ms: 400);

matrix('many requests multiplexed on one connection', function (int $i): array {
    $multi = \curl_multi_init();
    \curl_multi_setopt($multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
    $handles = [];
    for ($n = 0; $n < 20; $n++) {
        \curl_multi_add_handle($multi, $handles[] = http2('/' . ms(300) . "/$i.$n", [CURLOPT_PIPEWAIT => true]));
    }
    do {
        \curl_multi_exec($multi, $running);
        $running && \curl_multi_select($multi, 5);
    } while ($running);
    $connects = \array_sum(\array_map(fn($curl) => \curl_getinfo($curl, CURLINFO_NUM_CONNECTS), $handles));
    return [\array_map(\curl_multi_getcontent(...), $handles), $connects];
}, n: 3, ms: 300);

matrix('a big body, both ways', function (int $i): array {
    $body = \str_repeat("body of $i ", 200_000);
    $curl = http2('/' . ms(300), [CURLOPT_POSTFIELDS => $body]);
    return [\curl_exec($curl) === $body, \curl_getinfo($curl, CURLINFO_RESPONSE_CODE)];
}, n: 5, ms: 300);

matrix('an upload and a download whose callbacks block', function (int $i): array {
    $left = $body = \str_repeat("upload $i ", 20_000);
    $back = '';
    $headers = $waits = 0;
    $curl = http2('/0', [
        CURLOPT_UPLOAD => true,
        CURLOPT_INFILESIZE => \strlen($body),
        CURLOPT_READFUNCTION => function ($curl, $file, int $length) use (&$left, &$waits): string {
            $waits++ < 3 and \usleep(ms(50) * 1000);
            $part = \substr($left, 0, $length);
            $left = \substr($left, \strlen($part));
            return $part;
        },
        CURLOPT_WRITEFUNCTION => function ($curl, string $data) use (&$back): int {
            $back === '' and \usleep(ms(150) * 1000);
            $back .= $data;
            return \strlen($data);
        },
        CURLOPT_HEADERFUNCTION => function ($curl, string $line) use (&$headers): int {
            $headers += (int) \str_starts_with($line, 'HTTP/2');
            return \strlen($line);
        },
    ]);
    return [\curl_exec($curl), $back === $body, $headers];
}, n: 6, ms: 300);

matrix('a time limit, and the connection afterwards', function (int $i): array {
    $curl = http2('/20000/late', [CURLOPT_TIMEOUT_MS => ms(300)]);
    $first = [\curl_exec($curl), \curl_errno($curl)];
    $again = 'https://localhost:' . env('MATRIX_HTTP2_PORT') . "/0/again$i";
    \curl_setopt_array($curl, [CURLOPT_URL => $again, CURLOPT_TIMEOUT_MS => 10_000]);
    return [$first, \curl_exec($curl)];
}, n: 8, ms: 300);

cancelled('curl_exec', fn() => \curl_exec(http2('/20000/late')), fn() => \curl_exec(http2('/1/fine')));
