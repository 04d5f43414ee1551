--TEST--
IO-8 cURL handles of a persistent share take turns
--EXTENSIONS--
curl
--SKIPIF--
<?php
if (!function_exists('curl_share_init_persistent')) die('skip that function came with PHP 8.5');
?>
--FILE--
<?php
use function Async\spawn;

require __DIR__ . '/kit.inc';
require __DIR__ . '/http-server.inc';

$there = $most = 0;
[$url, $server] = T\http_server(function($path) use (&$there, &$most) {
    $most = max($most, ++$there);
    T\turns();
    $there--;
    return "answer to $path";
});
$share = fn() => curl_share_init_persistent([CURL_LOCK_DATA_CONNECT]);
$jobs = array_map(fn($i) => spawn('curl_exec', T\curl("$url/$i", [CURLOPT_SHARE => $share()])), range(1, 4));
echo implode("\n", T\all($jobs)), "\nat once: $most\n";
$server->cancel();
?>
--EXPECT--
answer to /1
answer to /2
answer to /3
answer to /4
at once: 1
