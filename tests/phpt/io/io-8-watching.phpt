--TEST--
IO-8 who only watches a handle keeps nobody from using it
--EXTENSIONS--
curl
--SKIPIF--
<?php if (curl_version()['version_number'] >= 0x080f00) die('skip later versions of libcurl refuse a handle that another call waits for'); ?>
--FILE--
<?php
use function Async\{await, spawn};

require __DIR__ . '/kit.inc';

[$server, $address] = T\listener();
$multi = curl_multi_init();
$start = function() use ($multi, $address) {
    curl_multi_add_handle($multi, $curl = curl_init(str_replace('tcp', 'http', $address)));
    curl_setopt($curl, CURLOPT_RETURNTRANSFER, true);
    curl_multi_exec($multi, $running);
    return $running;
};
$start();
$connection = stream_socket_accept($server);
stream_set_blocking($connection, false);
T\until(fn() => [curl_multi_exec($multi, $running), fread($connection, 1)][1]); // the request is there, and its answer does not come yet
stream_set_blocking($connection, true);
T\turns(300); // its timer for a second address, of 200 ms, goes off
curl_multi_exec($multi, $running);
$watches = spawn(fn() => curl_multi_select($multi, 600) > 0);
T\parked($watches);
echo await(spawn($start), Async\timeout(60_000)), "\n";
T\check('it goes on watching', !$watches->isCompleted());
fwrite($connection, "HTTP/1.0 200 OK\r\n\r\n");
var_dump(await($watches));
?>
--EXPECT--
2
it goes on watching: yes
bool(true)
