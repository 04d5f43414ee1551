--TEST--
IO-12 who polls many streams, or always finds something, lets others run, but not in the midst of one round
--EXTENSIONS--
curl
--FILE--
<?php
use function Async\spawn;

require __DIR__ . '/kit.inc';
require __DIR__ . '/http-server.inc';

/** Repeats a round until another coroutine runs. Nothing else lets it run. */
$starves = function(int $rounds, callable $round): string {
    T\turns();
    $ran = false;
    $other = spawn(function() use (&$ran) { $ran = true; });
    $round();
    $early = $ran;
    for ($n = 1; !$ran && $n < $rounds; $n++) $round();
    $result = ($early ? 'too early' : 'not in the first round') . ($ran ? '' : ", never in $n");
    T\all([$other]);
    return $result;
};
$pairs = [];
for ($i = 0; $i < 300; $i++) {
    $pairs[] = [$a] = T\pair();
    stream_set_blocking($a, false);
    stream_set_read_buffer($a, 0);
}
foreach ([12, 300] as $count) {
    $streams = array_column(array_slice($pairs, 0, $count), 0);
    foreach (['fread' => fn($stream) => fread($stream, 1), 'feof' => 'feof', 'recvfrom' => fn($stream) => stream_socket_recvfrom($stream, 1)] as $name => $call) {
        echo "$count, $name: ", $starves(300, fn() => array_map($call, $streams)), "\n";
    }
    // As a client does that looks whether a stream has ended where it has found nothing
    echo "$count, both: ", $starves(300, fn() => array_map(fn($stream) => fread($stream, 1) . feof($stream), $streams)), "\n";
}

$streams = array_column($pairs, 0);
$first = true;
echo 'one after many: ', $starves(300, function() use ($streams, &$first) {
    foreach ($first ? array_slice($streams, 0, 60) : array_fill(0, 20, $streams[200]) as $stream) fread($stream, 1);
    $first = false;
}), "\n";

// Where a look at others follows each round, no round is cut, however many there were.
$streams = array_slice($streams, 0, 40);
$round = fn() => array_map(fn($stream) => fread($stream, 1), $streams);
$cut = 0;
for ($k = 20; $k < 60; $k++) {
    for ($i = 0; $i < $k; $i++) {
        $round();
        [$r, $w, $x] = [$streams, null, null];
        stream_select($r, $w, $x, 0);
    }
    $ran = false;
    $other = spawn(function() use (&$ran) { $ran = true; });
    $round();
    $cut += (int) $ran;
    T\all([$other]);
}
echo "rounds that were cut: $cut\n";

[$url, $server] = T\http_server(fn($path) => "answer to $path");
$multis = [];
for ($i = 0; $i < 12; $i++) {
    curl_multi_add_handle($multis[$i] = curl_multi_init(), T\curl("$url/$i"));
    curl_multi_exec($multis[$i], $running);
}
echo '12 curl handles: ', $starves(300, function() use ($multis) { foreach ($multis as $multi) curl_multi_exec($multi, $running); }), "\n";

// Reads that find data, as many as a round over a thousand streams may make, and more
[$a, $b] = $pairs[0];
fwrite($b, str_repeat('x', 100_000));
$read = function() use ($a) { for ($i = 0; $i < 4000; $i++) fread($a, 1) === 'x' || throw new Error('No data'); };
echo 'always data: ', $starves(25, $read), "\n";

// Clients keep what they have read in streams in memory, in the midst of a round.
$memory = fopen('php://memory', 'w+');
$keep = function() use ($memory) { for ($i = 0; $i < 4000; $i++) { rewind($memory); fwrite($memory, 'x'); } };
echo 'in memory: ', $starves(25, $keep), "\n";

// Each call has begun or ended something.
$multi = curl_multi_init();
$perform = function() use ($multi, $url) {
    for ($i = 0; $i < 50; $i++) {
        curl_multi_add_handle($multi, $one = T\curl($url));
        curl_multi_exec($multi, $running);
        curl_multi_remove_handle($multi, $one);
        curl_multi_exec($multi, $running);
    }
};
echo 'always done: ', $starves(700, $perform), "\n";
$server->cancel();
?>
--EXPECT--
12, fread: not in the first round
12, feof: not in the first round
12, recvfrom: not in the first round
12, both: not in the first round
300, fread: not in the first round
300, feof: not in the first round
300, recvfrom: not in the first round
300, both: not in the first round
one after many: not in the first round
rounds that were cut: 0
12 curl handles: not in the first round
always data: not in the first round
in memory: not in the first round
always done: not in the first round
