--TEST--
Async\Http: neither a fast handler nor a fast client fills the memory
--FILE--
<?php
require __DIR__ . '/server.inc';

use Async\Http\{Request, Response, Writer};
use function Async\{await, delay, spawn};

const PIECE = 1 << 16, SIZE = 64 << 20;
$written = $read = 0;
$gate = false;
$server = S\serve(function(Request $r) use (&$written, &$read, &$gate) {
    if ($r->method() === 'GET') {
        return new Response(function(Writer $w) use (&$written) {
            $piece = str_repeat('x', PIECE);
            for (; $written < SIZE; $written += PIECE) $w->write($piece);
        });
    }
    while (!$gate) delay(1);
    while (($piece = $r->read()) !== null) $read += strlen($piece);
    return "$read bytes";
}, ['max_body_size' => 2 * SIZE]);

// The handler is far ahead of a client that reads nothing, but not at its end.
$client = S\connect($server);
fwrite($client, S\request('GET', '/'));
$before = -1;
T\until(function() use (&$before, &$written) {
    [$same, $before] = [$before === $written && $written > 0, $written];
    T\turns(20);
    return $same;
});
echo $written < SIZE / 2 ? "the handler waits\n" : "$written bytes were written\n";
$got = 0;
while (!feof($client)) $got += strlen(fread($client, PIECE));
echo $got >= SIZE ? "all has come\n" : "$got bytes have come\n";

$sent = 0;
$client = S\connect($server);
fwrite($client, "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: " . SIZE . "\r\n\r\n");
$sender = spawn(function() use ($client, &$sent) {
    $piece = str_repeat('x', PIECE);
    for (; $sent < SIZE; $sent += PIECE) fwrite($client, $piece);
});
$before = -1;
T\until(function() use (&$before, &$sent) {
    [$same, $before] = [$before === $sent && $sent > 0, $sent];
    T\turns(20);
    return $same;
});
echo $sent < SIZE / 2 ? "the client waits\n" : "$sent bytes were sent\n";
$gate = true;
echo S\body(stream_get_contents($client)), "\n";
echo memory_get_peak_usage() < 16 << 20 ? "little memory\n" : memory_get_peak_usage() . " bytes of memory\n";
$server->stop();
?>
--EXPECT--
the handler waits
all has come
the client waits
67108864 bytes
little memory
