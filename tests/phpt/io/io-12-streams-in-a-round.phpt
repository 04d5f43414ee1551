--TEST--
IO-12 while a coroutine looks at all its streams without waiting, nothing else runs, whatever it finds
--FILE--
<?php
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';

// Several coroutines move what comes on many streams to buffers in memory, as Symfony's client does.
const STREAMS = 20;
$streams = $peers = $buffers = [];
for ($i = 0; $i < STREAMS; $i++) {
    [$streams[$i], $peers[$i]] = T\pair();
    stream_set_blocking($streams[$i], false);
    stream_set_read_buffer($streams[$i], 0);
    $buffers[$i] = fopen('php://temp', 'w+');
}
$sent = implode(' ', range(1, 5_000)) . '.';
$results = array_fill(0, STREAMS, '');
$left = STREAMS;
$inside = $overlapping = $rounds = 0;
$round = function() use (&$streams, $buffers, &$results, &$left, &$inside, &$overlapping) {
    $overlapping += $inside++;
    foreach ($streams as $i => $stream) {
        if (($data = (string) fread($stream, 10)) !== '') {
            fwrite($buffers[$i], $data);
            $results[$i] .= stream_get_contents($buffers[$i], -1, 0);
            rewind($buffers[$i]);
            ftruncate($buffers[$i], 0);
        }
        if (feof($stream)) {
            unset($streams[$i]);
            $left--;
        }
    }
    $inside--;
};
$move = function() use (&$streams, &$left, $round, &$rounds) {
    while ($left) {
        $rounds++;
        $round();
        [$r, $w, $x] = [$streams, null, null];
        if ($r) stream_select($r, $w, $x, 0, 1000);
    }
};
$turns = 0;
$jobs = [spawn($move), spawn($move), spawn($move)];
foreach ($peers as $i => $peer) {
    $jobs[] = spawn(function() use ($peer, $sent, $i) {
        foreach (str_split($sent, 1000 + $i) as $piece) {
            fwrite($peer, $piece);
            T\turns(1);
        }
        fclose($peer);
    });
}
unset($peers, $peer);
$jobs[] = spawn(function() use (&$left, &$turns) { while ($left) { $turns++; suspend(); } });
T\all($jobs);
T\check('as it was sent', array_unique($results) === [$sent]);
T\check('others ran', $turns > 20 && $rounds > 20, "$turns, $rounds");
echo "overlapping: $overlapping\n";
?>
--EXPECT--
as it was sent: yes
others ran: yes
overlapping: 0
