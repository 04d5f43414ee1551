--TEST--
IO-8 a call that never waits does not wait for its turn either: nothing is ready
--EXTENSIONS--
curl
--FILE--
<?php
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';

[$server, $address] = T\listener();
$multi = curl_multi_init();
curl_multi_add_handle($multi, $curl = curl_init(str_replace('tcp', 'http', $address)));
$goes_on = $text = null;
curl_setopt($curl, CURLOPT_WRITEFUNCTION, function($curl, $data) use (&$goes_on, &$text) {
    $text = $data;
    while (!$goes_on) suspend();
    return strlen($data);
});
curl_multi_exec($multi, $running);
$connection = stream_socket_accept($server);
fwrite($connection, "HTTP/1.0 200 OK\r\n\r\ntext");
fclose($connection);
$performs = spawn(function() use ($multi) {
    do curl_multi_exec($multi, $running); while ($running && curl_multi_select($multi, 600) >= 0);
    return $running;
});
while ($text === null) Async\delay(1);
$other = await(spawn(fn() => [curl_multi_exec($multi, $running), $running]), Async\timeout(60_000));
echo json_encode($other), ' ', json_encode($performs->isCompleted()), "\n";
$goes_on = true;
echo await($performs), " $text\n";
?>
--EXPECT--
[0,1] false
0 text
