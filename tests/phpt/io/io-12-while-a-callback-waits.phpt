--TEST--
IO-12 while a callback waits in curl_multi_exec(), others are told that nothing is ready, and wait for its end if they may
--EXTENSIONS--
curl
--FILE--
<?php
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';
require __DIR__ . '/http-server.inc';

[$url, $server] = T\http_server(fn($path) => "answer to $path");
$multi = curl_multi_init();
$goes_on = $is_inside = false;
curl_multi_add_handle($multi, $curl = T\curl("$url/1", [CURLOPT_WRITEFUNCTION => function($curl, $data) use (&$goes_on, &$is_inside) {
    for ($is_inside = true; !$goes_on; suspend());
    return strlen($data);
}]));
$performs = spawn(function() use ($multi, &$goes_on) {
    do curl_multi_exec($multi, $running); while (!$goes_on && curl_multi_select($multi, 600) >= 0);
    curl_multi_exec($multi, $again); // the turn is that of another one, which waits for it
    return [$running, $again];
});
T\until(function() use (&$is_inside) { return $is_inside; });
echo json_encode([curl_multi_exec($multi, $running), $running]), "\n";
echo json_encode([curl_multi_select($multi, 0), curl_multi_select($multi, 0.01)]), "\n";
$watches = spawn(fn() => curl_multi_select($multi, 600));
$asks = spawn(fn() => curl_multi_info_read($multi)['result']);
T\parked($watches, $asks);
// Who waits for its turn makes no difference.
echo json_encode([curl_multi_exec($multi, $running), $running]), "\n";
$polls = spawn(function() use ($multi, &$goes_on) { do curl_multi_exec($multi, $running); while (!$goes_on); return 'it goes on'; });
T\turns();
$goes_on = true;
echo json_encode([await($watches), await($asks), await($polls), await($performs)]), "\n";
$server->cancel();
?>
--EXPECT--
[0,1]
[0,0]
[0,1]
[1,0,"it goes on",[0,0]]
