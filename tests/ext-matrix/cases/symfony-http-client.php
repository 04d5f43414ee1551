<?php
// needs: peer http2 ext:curl file:/usr/share/php/Symfony/Component/HttpClient/autoload.php
// Symfony's HttpClient as Debian packages it, with both of its transports: cURL and PHP's streams.
namespace Matrix;

use Symfony\Component\HttpClient\{CurlHttpClient, NativeHttpClient};
use Symfony\Contracts\HttpClient\Exception\TransportExceptionInterface;

require '/usr/share/php/Symfony/Component/HttpClient/autoload.php';

foreach (['curl' => CurlHttpClient::class, 'native' => NativeHttpClient::class] as $transport => $class) {
    $client = fn() => new $class(['cafile' => env('MATRIX_CERT')]);

    matrix("$transport: requests", function (int $i) use ($client): array {
        $response = $client()->request('GET', http('/' . ms() . "/symfony$i"));
        return [$response->getStatusCode(), $response->getContent(), $response->getHeaders()['content-type']];
    });

    matrix("$transport: POST by https", function (int $i) use ($client): array {
        $response = $client()->request('POST', https('/' . ms()), ['body' => ['field' => "value $i"]]);
        return [$response->getContent(), $response->getInfo('http_code')];
    }, n: 10);

    matrix("$transport: many responses at once, streamed", function (int $i) use ($client): array {
        $http = $client();
        $responses = [];
        for ($n = 0; $n < 5; $n++) {
            $responses[] = $http->request('GET', http('/' . ms(100 + 50 * $n) . "/$i.$n"), ['user_data' => $n]);
        }
        $bodies = [];
        foreach ($http->stream($responses) as $response => $chunk) {
            if ($chunk->isLast()) {
                $bodies[$response->getInfo('user_data')] = $response->getContent();
            }
        }
        \ksort($bodies);
        return $bodies;
    }, n: 6, ms: 300); // the native transport opens one after another

    matrix("$transport: chunks as they come", function (int $i) use ($client): array {
        $http = $client();
        $response = $http->request('GET', http('/chunked/' . ms(100) . "/one/two/three$i"));
        $pieces = '';
        foreach ($http->stream($response) as $chunk) {
            $pieces .= $chunk->getContent();
        }
        return [$pieces, $response->getInfo('http_code')];
    }, n: 6, ms: 300);

    matrix("$transport: a body that is produced slowly", function (int $i) use ($client): string {
        $body = (function () use ($i) {
            for ($n = 0; $n < 3; $n++) {
                \usleep(ms(100) * 1000);
                yield "piece $n of $i\n";
            }
        })();
        return $client()->request('POST', http('/0'), ['body' => $body, 'headers' => ['Content-Length' => \strlen("piece 0 of $i\n") * 3]])->getContent();
    }, n: 6, ms: 300);

    matrix("$transport: a time limit, a refusal, a progress callback", function (int $i) use ($client): array {
        $http = $client();
        $told = false;
        $results = [];
        foreach ([
            [http('/20000/late'), ['timeout' => seconds(300), 'on_progress' => function () use (&$told): void {
                $told = true;
            }]],
            ['http://127.0.0.1:1/', []],
        ] as [$url, $options]) {
            try {
                $results[] = $http->request('GET', $url, $options)->getContent();
            } catch (TransportExceptionInterface $e) {
                $results[] = \preg_match('/timeout|refused|Failed to connect/i', $e->getMessage());
            }
        }
        return [$results, $told];
    }, n: 6, ms: 300);
}

matrix('native: one client for all', function (int $i): string {
    static $http = new NativeHttpClient;
    return $http->request('PUT', http('/' . ms(300)), ['body' => "body $i"])->getContent();
}, n: 6, ms: 300);

matrix('curl: HTTP/2, several requests on one connection', function (int $i): array {
    $http = new CurlHttpClient(['cafile' => env('MATRIX_CERT')]);
    $responses = [];
    for ($n = 0; $n < 5; $n++) {
        $responses[] = $http->request('GET', 'https://localhost:' . env('MATRIX_HTTP2_PORT') . '/' . ms(300) . "/$i.$n");
    }
    return \array_map(fn($response) => [$response->getContent(), $response->getInfo('http_version')], $responses);
}, n: 4, ms: 300);
