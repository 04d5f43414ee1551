<?php
// needs: peer ext:curl file:/usr/share/php/GuzzleHttp/autoload.php
// Guzzle as Debian packages it: the synchronous client in each coroutine, and its own promises within one.
namespace Matrix;

use GuzzleHttp\{Client, Exception\ConnectException, Handler\StreamHandler, HandlerStack, Pool, Promise\Utils, Psr7\Request};

require '/usr/share/php/GuzzleHttp/autoload.php';

matrix('synchronous', function (int $i): array {
    $response = (new Client)->get(http('/' . ms() . "/guzzle$i"));
    return [$response->getStatusCode(), (string) $response->getBody()];
});

matrix('one client for all', function (int $i): string {
    static $client = new Client;
    return (string) $client->post(http('/' . ms()), ['body' => "body $i"])->getBody();
});

matrix('https', function (int $i): string {
    return (string) (new Client(['verify' => env('MATRIX_CERT')]))->get(https('/' . ms() . "/guzzle$i"))->getBody();
});

matrix('its stream handler', function (int $i): string {
    $client = new Client(['handler' => HandlerStack::create(new StreamHandler)]);
    return (string) $client->get(http('/' . ms() . "/stream$i"))->getBody();
});

matrix('promises', function (int $i): array {
    $client = new Client;
    $promises = [];
    foreach ([200, 300, 400] as $n => $delay) {
        $promises["p$n"] = $client->getAsync(http('/' . ms($delay) . "/$i.$n"))->then(fn($response) => (string) $response->getBody());
    }
    return Utils::unwrap($promises);
}, n: 10, ms: 400);

matrix('pool', function (int $i): array {
    $requests = function () use ($i) {
        for ($n = 0; $n < 6; $n++) {
            yield new Request('GET', http('/' . ms(200) . "/$i.$n"));
        }
    };
    $bodies = [];
    $collect = function ($response, int $n) use (&$bodies): void {
        $bodies[$n] = (string) $response->getBody();
    };
    (new Pool(new Client, $requests(), ['concurrency' => 3, 'fulfilled' => $collect]))->promise()->wait();
    \ksort($bodies);
    return $bodies;
}, n: 6, ms: 400);

matrix('timeout', function (int $i): string {
    try {
        (new Client)->get(http('/10000/late'), ['timeout' => seconds()]);
        return 'no exception';
    } catch (ConnectException $e) {
        return 'errno ' . $e->getHandlerContext()['errno'];
    }
}, n: 10);
