--TEST--
Async\Http: handlers run concurrently, up to a limit, and those that wait too long are refused
--FILE--
<?php
require __DIR__ . '/server.inc';

use Async\Http\Request;
use function Async\{await, awaitAll, delay, spawn};

$most = $now = 0;
$gate = false;
$server = S\serve(function(Request $r) use (&$most, &$now, &$gate) {
    $most = max($most, ++$now);
    while (!$gate) delay(1);
    $now--;
    return $r->path();
}, ['max_concurrency' => 10, 'queue_timeout' => 0]);
$answers = [];
for ($i = 0; $i < 50; $i++) $answers[] = spawn(fn() => S\get($server, "/$i"));
T\until(fn() => $server->stats()['queued'] === 40);
T\until(function() use (&$now) { return $now === 10; });
echo json_encode(array_intersect_key($server->stats(), ['running' => 0, 'queued' => 0])), "\n";
$gate = true;
$all = awaitAll($answers);
echo count(array_filter($all, fn($body, $i) => $body === "/$i", ARRAY_FILTER_USE_BOTH)), " right answers, $most at once\n";
$server->stop();

$gate = false;
$now = 0;
$server = S\serve(function(Request $r) use (&$gate) {
    while (!$gate) delay(1);
    return 'answered';
}, ['max_concurrency' => 1, 'queue_timeout' => 0.05]);
$first = spawn(fn() => S\get($server, '/'));
T\until(fn() => $server->stats()['running'] === 1);
echo S\status(S\send($server, S\request('GET', '/'))), "\n";
$gate = true;
echo await($first), "\n";

// Requests that one client sends at once are answered in order.
$client = S\connect($server);
fwrite($client, str_repeat("GET / HTTP/1.1\r\nHost: x\r\n\r\n", 3) . S\request('GET', '/'));
echo substr_count(stream_get_contents($client), 'answered'), "\n";
$server->stop();
?>
--EXPECT--
{"running":10,"queued":40}
50 right answers, 10 at once
503
answered
4
