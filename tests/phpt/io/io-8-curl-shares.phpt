--TEST--
IO-8 cURL handles that share connections take turns, those that share other things do not
--EXTENSIONS--
curl
--FILE--
<?php
use function Async\{await, spawn};

require __DIR__ . '/kit.inc';
require __DIR__ . '/http-server.inc';

/** How many requests are there, and how many may be answered. */
$there = $answered = $most = 0;
$wanted = 1;
[$url, $server] = T\http_server(function($path) use (&$there, &$most, &$wanted) {
    $most = max($most, ++$there);
    T\until(function() use (&$there, &$wanted) { return $there >= $wanted; });
    T\turns();
    $there--;
    $wanted = 1;
    return "answer to $path";
});
/** Runs the requests of `$handles` at once, of which so many have to be there at the same time, and says how many were. */
$at_once = function(string $what, int $expected, CurlHandle ...$handles) use (&$wanted, &$most) {
    [$wanted, $most] = [$expected, 0];
    $bodies = T\all(array_map(fn($handle) => spawn('curl_exec', $handle), $handles));
    T\check($what, count(array_filter($bodies, fn($body) => str_starts_with($body, 'answer'))) === count($handles) && $most === $expected, [$bodies, $most]);
};
$share = function(int ...$what) {
    $share = curl_share_init();
    foreach ($what as $one) curl_share_setopt($share, CURLSHOPT_SHARE, $one);
    return $share;
};
$with = fn($share, $path) => T\curl($url . $path, [CURLOPT_SHARE => $share]);

$all_else = $share(CURL_LOCK_DATA_COOKIE, CURL_LOCK_DATA_DNS, CURL_LOCK_DATA_SSL_SESSION);
$at_once('cookies, addresses, sessions', 2, $with($all_else, '/1'), $with($all_else, '/2'));
$connections = $share(CURL_LOCK_DATA_DNS, CURL_LOCK_DATA_CONNECT);
$at_once('connections', 1, $with($connections, '/3'), $with($connections, '/4'), $with($connections, '/5'));
$set = T\curl("$url/6");
curl_setopt($set, CURLOPT_SHARE, $connections);
$at_once('by curl_setopt()', 1, $set, $with($connections, '/7'));
$at_once('a copy', 1, $set, curl_copy_handle($set));
$at_once('two shares', 2, $with($connections, '/8'), $with($other = $share(CURL_LOCK_DATA_CONNECT), '/9'));
$late = T\curl("$url/10");
$at_once('none', 2, $late, $with($connections, '/11'));
$held = $with($share(CURL_LOCK_DATA_CONNECT), '/12'); // whose share nothing else refers to
$at_once('a share that is gone', 2, $held, $with($connections, '/13'));
$plain = T\curl("$url/20");
$at_once('copies of one without a share', 3, $plain, curl_copy_handle($plain), curl_copy_handle($plain));

// Its cache is that of the share then
$multi = curl_multi_init();
curl_multi_add_handle($multi, $with($connections, '/14'));
$wanted = 2;
$executes = spawn('curl_exec', $with($connections, '/15'));
T\until(function() use (&$there) { return $there === 1; });
echo json_encode([curl_multi_exec($multi, $running), $running, curl_multi_select($multi, 0)]), "\n";
$watches = spawn(fn() => curl_multi_select($multi, 600));
T\parked($watches);
$wanted = 1;
echo await($executes), ' ', await($watches), "\n";
do curl_multi_exec($multi, $running); while ($running && curl_multi_select($multi, 600) >= 0);
echo curl_multi_info_read($multi)['result'], "\n";

// One with handles of two shares makes these one group
$two = curl_multi_init();
curl_multi_add_handle($two, $with($connections, '/16'));
curl_multi_add_handle($two, $with($other, '/17'));
$at_once('joined by a multi handle', 1, $with($connections, '/18'), $with($other, '/19'));
$server->cancel();
?>
--EXPECT--
cookies, addresses, sessions: yes
connections: yes
by curl_setopt(): yes
a copy: yes
two shares: yes
none: yes
a share that is gone: yes
copies of one without a share: yes
[0,1,0]
answer to /15 1
0
joined by a multi handle: yes
