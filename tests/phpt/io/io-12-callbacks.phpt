--TEST--
IO-12 what callbacks in curl_multi_exec() call yields only where it waits
--EXTENSIONS--
curl
--FILE--
<?php
use function Async\{spawn, suspend};

require __DIR__ . '/kit.inc';
require __DIR__ . '/http-server.inc';
T\work_in(['file' => 'text']);

[$url, $server] = T\http_server(fn($path) => "answer to $path");
[$a, $b] = T\pair();
$null = fopen('/dev/null', 'w');
stream_set_write_buffer($null, 0);
$inside = $stop = false;
$seen = $turns = 0;
$other = spawn(function() use (&$inside, &$seen, &$turns, &$stop) {
    for (; !$stop; suspend()) {
        $turns++;
        $seen += (int) $inside;
    }
});
$multi = curl_multi_init();
$body = '';
curl_multi_add_handle($multi, T\curl("$url/1", [CURLOPT_WRITEFUNCTION => function($curl, $data) use ($a, $b, $null, &$body) {
    for ($i = 0; $i < 200; $i++) {
        fwrite($null, 'x');
        fwrite($b, 'x');
        fread($a, 1);
        file_get_contents('file');
    }
    $body .= $data;
    return strlen($data);
}]));
do {
    $inside = true;
    curl_multi_exec($multi, $running);
    $inside = false;
    if ($running) curl_multi_select($multi, 600);
} while ($running);
$stop = true;
T\all([$other]);
echo "$body, in the middle: $seen\n";
T\check('others ran', $turns > 0);
$server->cancel();
?>
--EXPECT--
answer to /1, in the middle: 0
others ran: yes
