--TEST--
IO-2 curl easy, curl multi and the http stream against a server of the same process
--EXTENSIONS--
curl
--FILE--
<?php
use function Async\spawn;

require __DIR__ . '/kit.inc';

[$server, $address] = T\listener();
$url = str_replace('tcp', 'http', $address);
$together = $most = 0;
$serving = spawn(function() use ($server, &$together, &$most) {
    while ($client = @stream_socket_accept($server, 600)) {
        spawn(function() use ($client, &$together, &$most) {
            $path = explode(' ', fgets($client))[1];
            while (trim(fgets($client)) !== '');
            $most = max($most, ++$together);
            T\turns(30);
            $together--;
            fwrite($client, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: " . strlen($path) . "\r\n\r\n$path");
            fclose($client); // the loop that accepts has it too, and file_get_contents() reads up to the end
        });
    }
});
$easy = function(string $path) use ($url) {
    $c = curl_init("$url/$path");
    curl_setopt_array($c, [CURLOPT_RETURNTRANSFER => true, CURLOPT_TIMEOUT => 20]);
    return curl_exec($c);
};
$multi = function(string $path) use ($url) {
    $m = curl_multi_init();
    for ($i = 0; $i < 3; $i++) {
        $all[$i] = curl_init("$url/$path$i");
        curl_setopt($all[$i], CURLOPT_RETURNTRANSFER, true);
        curl_multi_add_handle($m, $all[$i]);
    }
    do {
        curl_multi_exec($m, $running);
        if ($running) curl_multi_select($m, 600);
    } while ($running);
    return implode(' ', array_map('curl_multi_getcontent', $all));
};
$jobs = [];
for ($i = 0; $i < 10; $i++) {
    $jobs["easy$i"] = spawn($easy, "easy$i");
    $jobs["multi$i"] = spawn($multi, "multi$i");
    $jobs["stream$i"] = spawn(fn() => file_get_contents("$url/stream$i"));
    $jobs["write$i"] = spawn(function() use ($url, $i) {
        $c = curl_init("$url/write$i");
        $got = '';
        curl_setopt($c, CURLOPT_WRITEFUNCTION, function($c, $data) use (&$got) { usleep(500); $got .= $data; return strlen($data); });
        curl_exec($c);
        return $got;
    });
}
$wrong = [];
foreach (T\all($jobs) as $name => $result) {
    $expected = str_starts_with($name, 'multi') ? "/{$name}0 /{$name}1 /{$name}2" : "/$name";
    if ($result !== $expected) $wrong[$name] = $result;
}
T\check('answers', $wrong === [], $wrong);
T\check('at the same time', $most >= 20, $most);
$serving->cancel();
?>
--EXPECT--
answers: yes
at the same time: yes
