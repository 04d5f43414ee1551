<?php
// needs: peer nginx ext:curl file:/usr/share/php/GuzzleHttp/autoload.php file:/usr/share/php/Symfony/Component/HttpClient/autoload.php
// One client of Guzzle or Symfony for 40 coroutines, as a container has it: each gets its own answers. And cURL handles of one share.
namespace Matrix;

use GuzzleHttp\{Client, Pool, Promise\Utils, Psr7\Request};
use Symfony\Component\HttpClient\{CurlHttpClient, NativeHttpClient};

require '/usr/share/php/GuzzleHttp/autoload.php';
require '/usr/share/php/Symfony/Component/HttpClient/autoload.php';

const ALL = 40;
$urls = [
    'http' => 'http://127.0.0.1:' . env('MATRIX_NGINX_PORT'),
    'https' => 'https://localhost:' . env('MATRIX_NGINX_TLS_PORT'),
];

/** What the requests of one coroutine ask for, and what they should get. */
function wanted(int $i): array
{
    $file = '';
    for ($line = 1; $line <= 4000; $line++) {
        $file .= "file $i, line $line\n";
    }
    $wanted = ["/first/$i" => "answer to /first/$i\n", "/files/$i" => $file, "/second/$i?x=$i" => "answer to /second/$i?x=$i\n"];
    return $wanted + ["/slow/$i" => $file, "/third/$i" => "answer to /third/$i\n", "/packed/$i" => $file];
}

/** Says which bodies are right, in words that are short. */
function judged(int $i, array $bodies): array
{
    \ksort($bodies);
    $judge = fn(string $path, string $body) => wanted($i)[$path] === $body ? 'right' : \strlen($body) . ' bytes: ' . \substr($body, 0, 80);
    return \array_combine(\array_keys($bodies), \array_map($judge, \array_keys($bodies), $bodies));
}

foreach ($urls as $scheme => $url) {
    $guzzle = new Client(['base_uri' => $url, 'verify' => env('MATRIX_CERT')]);

    matrix("Guzzle, $scheme: one after another", function (int $i) use ($guzzle): array {
        $bodies = [];
        foreach (wanted($i) as $path => $_) {
            $bodies[$path] = (string) $guzzle->getAsync($path)->wait()->getBody();
        }
        return judged($i, $bodies);
    }, n: ALL, evidence: 'switch');

    matrix("Guzzle, $scheme: promises", function (int $i) use ($guzzle): array {
        $promises = \array_map(fn(string $path) => $guzzle->getAsync($path), \array_combine($paths = \array_keys(wanted($i)), $paths));
        return judged($i, \array_map(fn($response) => (string) $response->getBody(), Utils::unwrap($promises)));
    }, n: ALL, evidence: 'switch');

    matrix("Guzzle, $scheme: pool", function (int $i) use ($guzzle): array {
        $bodies = [];
        $requests = \array_map(fn(string $path) => new Request('GET', $path), \array_combine($paths = \array_keys(wanted($i)), $paths));
        (new Pool($guzzle, $requests, ['concurrency' => 3, 'fulfilled' => function ($response, string $path) use (&$bodies): void {
            $bodies[$path] = (string) $response->getBody();
        }]))->promise()->wait();
        return judged($i, $bodies);
    }, n: ALL, evidence: 'switch');

    foreach (['curl' => CurlHttpClient::class, 'native' => NativeHttpClient::class] as $transport => $class) {
        // The native one opens no more connections than it may, and forgets the rest of the requests, on stock PHP as well.
        $symfony = new $class(['base_uri' => $url, 'cafile' => env('MATRIX_CERT')], $transport === 'native' ? 1000 : 6);

        matrix("Symfony, $transport, $scheme: one after another", function (int $i) use ($symfony): array {
            $bodies = [];
            foreach (wanted($i) as $path => $_) {
                $bodies[$path] = $symfony->request('GET', $path)->getContent();
            }
            return judged($i, $bodies);
        }, n: ALL, evidence: 'switch');

        matrix("Symfony, $transport, $scheme: at once", function (int $i) use ($symfony): array {
            $responses = \array_map(fn(string $path) => $symfony->request('GET', $path), \array_combine($paths = \array_keys(wanted($i)), $paths));
            return judged($i, \array_map(fn($response) => $response->getContent(), $responses));
        }, n: ALL, evidence: 'switch');
    }
}

matrix('Symfony, curl: a hundred requests that one coroutine begins, beside others', function (int $i) use ($urls): int {
    static $symfony = new CurlHttpClient;
    $responses = \array_map(fn(int $n) => $symfony->request('GET', "{$urls['http']}/$i.$n"), \range(0, $i === 0 ? 99 : 9));
    $right = fn($response, int $n) => $response->getContent() === "answer to /$i.$n\n";
    return \count(\array_filter(\array_map($right, $responses, \array_keys($responses))));
}, n: 10, evidence: 'none');

foreach (['DNS', 'COOKIE', 'SSL_SESSION', 'CONNECT'] as $what) {
    $share = \curl_share_init();
    \curl_share_setopt($share, CURLSHOPT_SHARE, \constant("CURL_LOCK_DATA_$what"));
    foreach ($urls as $scheme => $url) {
        matrix("handles that share $what, $scheme", function (int $i) use ($share, $url): array {
            $bodies = [];
            foreach (wanted($i) as $path => $_) {
                $bodies[$path] = \curl_exec(curl($url . $path, [
                    CURLOPT_SHARE => $share, CURLOPT_COOKIEFILE => '', CURLOPT_ENCODING => '', CURLOPT_HTTP_VERSION => CURL_HTTP_VERSION_1_1,
                ]));
            }
            return judged($i, $bodies);
        }, n: ALL, evidence: 'none');
    }
}
