--TEST--
IO-12 coroutines that drive one curl multi handle: each has its answers, and none sleeps through them
--EXTENSIONS--
curl
--FILE--
<?php
use function Async\{await, spawn};

require __DIR__ . '/kit.inc';
require __DIR__ . '/http-server.inc';

[$url, $server] = T\http_server(fn($path) => "answer to $path");
$multi = curl_multi_init();
$active = 0;
$open = $bodies = [];
$performing = false;
// As clients do that have one handle for all their requests: who waits for one drives those of all. A wait for nothing would be as
// long as the test may take.
$client = function(int $n) use ($multi, $url, &$active, &$open, &$bodies, &$performing) {
    for ($k = 0; $k < 4; $k++) {
        $path = "/$n.$k";
        $curl = T\curl($url . $path);
        $open[$path] = $curl;
        curl_multi_add_handle($multi, $curl);
        while (isset($open[$path])) {
            if ($active) {
                curl_multi_select($multi, 600);
            }
            if ($performing) {
                $bodies['overlapping'] = true;
            }
            $performing = true;
            curl_multi_exec($multi, $active);
            $performing = false;
            while ($done = curl_multi_info_read($multi)) {
                $of = array_search($done['handle'], $open, true);
                $bodies[$of] = curl_multi_getcontent($done['handle']);
                curl_multi_remove_handle($multi, $done['handle']);
                unset($open[$of]);
            }
        }
    }
    return $n;
};
foreach ([2, 5, 40] as $count) {
    $bodies = [];
    $jobs = array_map(fn($n) => spawn($client, $n), range(1, $count));
    echo array_sum(T\all($jobs)), ' ';
    $right = array_filter($bodies, fn($body, $path) => $body === "answer to $path", ARRAY_FILTER_USE_BOTH);
    echo count($right), ' of ', count($bodies), "\n";
}
$server->cancel();
?>
--EXPECT--
3 8 of 8
15 20 of 20
820 160 of 160
