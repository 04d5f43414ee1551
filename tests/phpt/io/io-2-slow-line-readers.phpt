--TEST--
IO-2 line, record and block readers on sources that give one byte at a time
--FILE--
<?php
use function Async\{spawn, suspend};

require __DIR__ . '/kit.inc';
T\without_deprecations();

$readers = [
    'fgets' => ["one\ntwo\n\nlast", fn($s) => [fgets($s), fgets($s), fgets($s), fgets($s), fgets($s)]],
    'fgets with a length' => ["abcdefg\n", fn($s) => [fgets($s, 4), fgets($s, 4), fgets($s)]],
    'fread' => ['abcdef', fn($s) => strlen(fread($s, 4)) >= 1],
    'stream_get_line' => ['a;;b;;c', fn($s) => [stream_get_line($s, 100, ';;'), stream_get_line($s, 100, ';;'), stream_get_line($s, 100, ';;')]],
    'fgetcsv' => ["a,\"b\nc\"\nd\n", fn($s) => [fgetcsv($s), fgetcsv($s), fgetcsv($s)]],
    'fscanf' => ["12 apples\n", fn($s) => fscanf($s, '%d %s')],
    'stream_get_contents' => ['everything', fn($s) => stream_get_contents($s)],
    'with a limit' => ['everything', fn($s) => [stream_get_contents($s, 5), stream_get_contents($s)]],
    'fpassthru' => ['passed on', function($s) { ob_start(); $n = fpassthru($s); return [$n, ob_get_clean()]; }],
    'copy' => ['copied bytes', function($s) { $m = fopen('php://memory', 'w+'); $n = stream_copy_to_stream($s, $m); rewind($m); return [$n, stream_get_contents($m)]; }],
    'filter' => ['filtered', function($s) { stream_filter_append($s, 'string.toupper'); return stream_get_contents($s); }],
    'feof loop' => ['ab', function($s) { $all = ''; while (!feof($s)) $all .= fgetc($s); return $all; }],
];
$jobs = [];
foreach ($readers as $name => [$text, $read]) {
    [$a, $b] = T\pair();
    $jobs[$name] = spawn($read, $a);
    spawn(function() use ($text, $b) {
        foreach (str_split($text) as $byte) {
            usleep(300);
            @fwrite($b, $byte); // the reader may have enough
            suspend();
        }
        fclose($b);
    });
    unset($a, $b);
}
foreach (T\all($jobs) as $name => $result) echo "$name: ", json_encode($result), "\n";
?>
--EXPECT--
fgets: ["one\n","two\n","\n","last",false]
fgets with a length: ["abc","def","g\n"]
fread: true
stream_get_line: ["a","b","c"]
fgetcsv: [["a","b\nc"],["d"],false]
fscanf: [12,"apples"]
stream_get_contents: "everything"
with a limit: ["every","thing"]
fpassthru: [9,"passed on"]
copy: [12,"copied bytes"]
filter: "FILTERED"
feof loop: "ab"
