--TEST--
CANC-4 a read that is cancelled leaves a plain stream as it was: it is not at its end, and what was read of a line is read again
--FILE--
<?php
use function Async\{spawn, withTimeout};

require __DIR__ . '/kit.inc';

$server = stream_socket_server('tcp://127.0.0.1:0');
$client = stream_socket_client('tcp://' . stream_socket_get_name($server, false));
$cat = proc_open(['cat'], [['pipe', 'r'], ['pipe', 'w']], $pipes);
$streams = ['unix socket' => T\pair(), 'tcp socket' => [$client, stream_socket_accept($server)], 'pipe of a process' => [$pipes[1], $pipes[0]]];
$reads = [
    'fgets' => [fn($s) => fgets($s), "a line\n"],
    'stream_get_line' => [fn($s) => stream_get_line($s, 100, "\n"), 'a line'],
    'fgetc' => [fn($s) => fgetc($s) . fgetc($s), 'a '],
    'fread' => [fn($s) => fread($s, 3), 'a l'],
    'stream_get_contents' => [fn($s) => stream_get_contents($s, 7), "a line\n"],
];
foreach ($streams as $what => [$reader, $writer]) {
    foreach ($reads as $function => [$read, $wanted]) {
        $got = [];
        foreach (['', 'a li'] as $part) {
            // A part of a line waits for the rest, unless the function takes what there is.
            if ($part !== '' && in_array($function, ['fgetc', 'fread'])) {
                continue;
            }
            fwrite($writer, $part);
            $cut = spawn($read, $reader);
            T\parked($cut);
            $cut->cancel();
            $failure = T\failure($cut);
            $got[] = $failure instanceof Async\CancellationException && !feof($reader);
            fwrite($writer, substr("a line\n", strlen($part)));
            $got[] = $read($reader) === $wanted;
            $rest = strlen("a line\n") - strlen($wanted);
            in_array($function, ['fgetc', 'fread']) && fread($reader, $rest);
        }
        $times = stream_get_meta_data($reader)['unread_bytes'];
        array_unique($got) === [true] && $times === 0 || print "$what, $function: " . json_encode($got) . " $times\n";
    }
    // A real end is found.
    $what === 'pipe of a process' ? fclose($writer) : stream_socket_shutdown($writer, STREAM_SHUT_WR);
    $cut = spawn(fn() => fgets($reader));
    echo "$what: ", json_encode([Async\await($cut), feof($reader)]), "\n";
}

// What has read a part that cannot be put back leaves no rest to be taken for a whole row.
[$a, $b] = T\pair();
fwrite($b, '1,"a');
$cut = spawn(fn() => fgetcsv($a));
T\parked($cut);
$cut->cancel();
T\failure($cut);
fwrite($b, "b\",2\n");
echo 'fgetcsv: ', json_encode([feof($a), fgetcsv($a)]), "\n";

// A filter may have seen the end.
[$a, $b] = T\pair();
stream_filter_append($a, 'string.toupper', STREAM_FILTER_READ);
$cut = spawn(fn() => fgets($a));
T\parked($cut);
$cut->cancel();
T\failure($cut);
echo 'with a filter: ', json_encode(feof($a)), "\n";
?>
--EXPECT--
unix socket: [false,true]
tcp socket: [false,true]
pipe of a process: [false,true]
fgetcsv: [true,false]
with a filter: true
