--TEST--
IO-2 a blocking TCP server and its clients in one process: accept, read and write on both sides
--FILE--
<?php
use function Async\{await, spawn};

require __DIR__ . '/kit.inc';

[$server, $address] = T\listener();
$open = $most = 0;
$accepting = spawn(function() use ($server, &$open, &$most) {
    while ($client = @stream_socket_accept($server, 600)) {
        spawn(function() use ($client, &$open, &$most) {
            $most = max($most, ++$open);
            while (($line = fgets($client)) !== false) {
                fwrite($client, strtoupper($line));
            }
            fclose($client);
            $open--;
        });
    }
});
$clients = [];
for ($i = 0; $i < 40; $i++) {
    $clients[$i] = spawn(function() use ($address, $i) {
        $s = stream_socket_client($address, $errno, $error, 600);
        $ok = 0;
        for ($k = 0; $k < 5; $k++) {
            fwrite($s, "client $i line $k\n");
            $ok += fgets($s) === "CLIENT $i LINE $k\n";
            usleep(1000);
        }
        // a large one, in pieces
        $text = str_repeat("x$i", 20_000) . "\n";
        fwrite($s, $text);
        $ok += fgets($s) === strtoupper($text);
        return $ok;
    });
}
var_dump(array_unique(T\all($clients)));
T\check('at the same time', $most > 20, $most);
$accepting->cancel();
T\failure($accepting);
T\check('all closed', T\until(function() use (&$open) { return $open === 0; }), $open);
?>
--EXPECT--
array(1) {
  [0]=>
  int(6)
}
at the same time: yes
all closed: yes
