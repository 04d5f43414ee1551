--TEST--
Async\Poll finds what is ready in sockets of each kind: data in the kernel and in PHP's buffer, an end, and that it was closed
--FILE--
<?php
require __DIR__ . '/kit.inc';

T\work_in();
$poll = new Async\Poll;
$kinds = [
    'a pair' => pair(...),
    'TCP' => fn() => accepted('tcp://127.0.0.1:0'),
    'a Unix socket' => fn() => accepted('unix://' . getcwd() . '/socket'),
    'accepted TCP' => fn() => array_reverse(accepted('tcp://127.0.0.1:0')),
    'filtered TCP' => function () { $pair = accepted('tcp://127.0.0.1:0'); stream_filter_append($pair[0], 'string.toupper'); return $pair; },
    'pipes' => function () { $cat = proc_open(['cat'], [['pipe', 'r'], ['pipe', 'w']], $pipes); $GLOBALS['cats'][] = $cat; return [$pipes[1], $pipes[0]]; },
];
foreach ($kinds as $kind => $make) {
    [$ours, $theirs] = $make();
    $is_ready = fn(?float $seconds = null) => count($poll->wait($seconds)[0]);
    stream_set_blocking($ours, false);
    $poll->watchRead($ours);
    $found = [$is_ready(0)];
    fwrite($theirs, "one\ntwo\nthr");
    array_push($found, $is_ready(), fgets($ours), $is_ready(), $is_ready(0), fgets($ours), $is_ready(0));
    fread($ours, 100);
    array_push($found, $is_ready(0));
    fclose($theirs);
    array_push($found, $is_ready(), $is_ready(0), fread($ours, 10), feof($ours));
    fclose($ours);
    array_push($found, $is_ready(0));
    $poll->unwatchRead($ours);
    array_push($found, $is_ready(0));
    echo "$kind: ", json_encode($found), "\n";
}
?>
--EXPECT--
a pair: [0,1,"one\n",1,1,"two\n",1,0,1,1,"",true,1,0]
TCP: [0,1,"one\n",1,1,"two\n",1,0,1,1,"",true,1,0]
a Unix socket: [0,1,"one\n",1,1,"two\n",1,0,1,1,"",true,1,0]
accepted TCP: [0,1,"one\n",1,1,"two\n",1,0,1,1,"",true,1,0]
filtered TCP: [0,1,"ONE\n",1,1,"TWO\n",1,0,1,1,"",true,1,0]
pipes: [0,1,"one\n",1,1,"two\n",1,0,1,1,"",true,1,0]
