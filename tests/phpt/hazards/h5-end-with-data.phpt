--TEST--
H5 an end of file that comes with the last bytes is seen, after short reads too, on TCP, Unix sockets and pipes
--FILE--
<?php
use function Async\{spawn, suspend};

require __DIR__ . '/kit.inc';

[$server, $address] = T\listener();
$ends = [
    'tcp' => function() use ($server, $address) { $c = stream_socket_client($address); return [$c, stream_socket_accept($server, 600)]; },
    'unix' => fn() => T\pair(),
    'pipe' => function() { $p = proc_open(['cat'], [['pipe', 'r'], ['pipe', 'w']], $pipes); return [$pipes[1], $pipes[0], $p]; },
];
foreach ($ends as $name => $open) {
    $results = [];
    for ($i = 0; $i < 30; $i++) {
        $pair = $open();
        $reader = spawn(function() use ($pair, $i) {
            $all = '';
            $n = 0;
            while (!feof($pair[0]) && $n++ < 1000) {
                $part = fread($pair[0], [8192, 5, 6, 1][$i % 4]);
                $all .= $part;
                if ($i % 3 === 0) suspend();
            }
            return $all;
        });
        if ($i % 2) T\parked($reader); // else the data is there before the first read
        fwrite($pair[1], 'first ');
        if ($i % 5 < 2) suspend();
        fwrite($pair[1], 'last');
        fclose($pair[1]);
        try {
            $results[Async\await($reader, Async\timeout(60_000))] = true;
        } catch (Async\AwaitCancelledException) {
            $results["hangs ($i)"] = true;
            $reader->cancel();
        }
    }
    echo "$name: ", implode(', ', array_keys($results)), "\n";
}

// polled: readable, then the end is readable as well
[$a, $b] = T\pair();
$poll = spawn(function() use ($a) {
    $seen = [];
    for ($i = 0; $i < 2; $i++) {
        $r = [$a];
        $w = $x = null;
        $seen[] = stream_select($r, $w, $x, 600);
        $seen[] = stream_socket_recvfrom($a, 100);
    }
    return $seen;
});
T\parked($poll);
fwrite($b, 'data');
fclose($b);
echo json_encode(Async\await($poll)), "\n";
?>
--EXPECT--
tcp: first last
unix: first last
pipe: first last
[1,"data",1,""]
