--TEST--
IO-12 who drives several curl multi handles hears of what others do for each
--EXTENSIONS--
curl
--FILE--
<?php
use function Async\{await, spawn};

require __DIR__ . '/kit.inc';
require __DIR__ . '/http-server.inc';

$answers = false;
[$url, $server] = T\http_server(function($path) use (&$answers) {
    T\until(function() use (&$answers) { return $answers; });
    return "answer to $path";
});
[$one, $two] = [curl_multi_init(), curl_multi_init()];
$start = function(CurlMultiHandle $multi, string $path) use ($url) {
    curl_multi_add_handle($multi, T\curl($url . $path));
    do curl_multi_exec($multi, $running); while (curl_multi_select($multi, 0.3) > 0);
};
$start($one, '/1');
$start($two, '/2');
$changed = false;
$watches = spawn(function() use ($one, $two, &$changed) {
    curl_multi_exec($one, $running);
    curl_multi_exec($two, $running);
    T\until(function() use (&$changed) { return $changed; });
    curl_multi_select($two, 0.001);
    do $found = curl_multi_select($one, 600); while ($found === 0);
    return $found;
});
T\begun($watches);
$start($one, '/3');
$changed = true;
echo await($watches), "\n";
$answers = true;
$server->cancel();
?>
--EXPECT--
1
