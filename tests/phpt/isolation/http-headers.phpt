--TEST--
ISOLATION http_get_last_response_headers() is about the last response to this coroutine
--SKIPIF--
<?php if (PHP_VERSION_ID < 80400) die('skip that function came with PHP 8.4'); ?>
--FILE--
<?php
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';

[$server, $address] = T\listener();
$url = str_replace('tcp', 'http', $address);
$serves = spawn(function () use ($server) {
    for ($i = 0; $i < 6; $i++) {
        $connection = stream_socket_accept($server, 60);
        $request = fgets($connection);
        while (trim(fgets($connection)) !== '');
        $name = trim(explode(' ', $request)[1], '/');
        fwrite($connection, "HTTP/1.0 200 $name\r\n\r\n");
        fclose($connection);
    }
});
$get = function (string $name) use ($url) {
    file_get_contents("$url/$name");
    for ($i = 0; $i < 5; $i++) suspend();
    return [http_get_last_response_headers()[0], (function () { suspend(); $first = http_get_last_response_headers(); http_clear_last_response_headers(); suspend(); return [count($first), http_get_last_response_headers()]; })()];
};
file_get_contents("$url/script");
$jobs = array_map(fn($name) => spawn($get, $name), ['a', 'b', 'c', 'd', 'e']);
$none = spawn(fn() => suspend() ?? http_get_last_response_headers());
echo json_encode(T\all($jobs)), "\n";
var_dump(await($none));
echo http_get_last_response_headers()[0], "\n";
?>
--EXPECT--
[["HTTP\/1.0 200 a",[1,null]],["HTTP\/1.0 200 b",[1,null]],["HTTP\/1.0 200 c",[1,null]],["HTTP\/1.0 200 d",[1,null]],["HTTP\/1.0 200 e",[1,null]]]
NULL
HTTP/1.0 200 script
