--TEST--
Async\Http: a handler whose client leaves, or that takes too long, is cancelled in what it is blocked in
--FILE--
<?php
require __DIR__ . '/server.inc';

use Async\Http\{ClientDisconnected, Request, RequestTimeout, Response, Writer};
use function Async\{await, delay, spawn, protect};

$begun = 0;
$pair = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
$log = [];
$server = S\serve(function(Request $r) use (&$begun, &$log, $pair) {
    $begun++;
    try {
        match ($r->path()) {
            '/sleep' => sleep(1000),
            '/delay' => delay(1_000_000),
            '/body' => $r->body(),
            '/child' => await(spawn(fn() => sleep(1000))),
            '/pipe' => fread($pair[0], 10),
        };
    } catch (Throwable $e) {
        $log[] = $r->path() . ' ' . $e::class;
        throw $e;
    } finally {
        $log[] = $r->path() . ' finally';
    }
}, ['request_timeout' => 0]);

foreach (['/sleep', '/delay', '/child', '/pipe'] as $path) {
    $log = [];
    $before = $begun;
    $client = S\connect($server);
    fwrite($client, "GET $path HTTP/1.1\r\nHost: x\r\n\r\n");
    T\until(fn() => $GLOBALS['begun'] > $before);
    fclose($client);
    T\until(fn() => in_array("$path finally", $GLOBALS['log']));
    echo implode(', ', $log), "\n";
}

// With a body that has not come, or was not read.
foreach (['/body', '/delay'] as $path) {
    $log = [];
    $before = $begun;
    $client = S\connect($server);
    fwrite($client, "POST $path HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc");
    T\until(fn() => $GLOBALS['begun'] > $before);
    fclose($client);
    T\until(fn() => in_array("$path finally", $GLOBALS['log']));
    echo implode(', ', $log), "\n";
}
T\until(fn() => $server->stats()['running'] === 0);

$slow = S\serve(function(Request $r) use (&$log) {
    try {
        sleep(1000);
    } catch (RequestTimeout $e) {
        $log[] = $e->getMessage() . ' after ' . $e->getPrevious()::class . ': ' . $e->getPrevious()->getMessage();
        if ($r->path() === '/own') return new Response('own answer', 504);
        throw $e;
    }
}, ['request_timeout' => 0.05]);
$log = [];
echo S\status(S\send($slow, S\request('GET', '/'))), "\n";
echo S\body(S\send($slow, S\request('GET', '/own'))), "\n";
echo implode(', ', $log), "\n";

// One that is protected is answered for.
$done = false;
$stubborn = S\serve(function() use (&$done) {
    protect(function() use (&$done) { while (!$done) delay(5); });
    return 'too late';
}, ['request_timeout' => 0.05, 'cancel_grace' => 0.05]);
echo S\status(S\send($stubborn, S\request('GET', '/'))), "\n";
echo $stubborn->stats()['running'], " still runs\n";
$done = true;
T\until(fn() => $stubborn->stats()['running'] === 0);

// One that writes.
$log = [];
$writes = S\serve(fn() => new Response(function(Writer $w) {
    try {
        while (true) $w->write(str_repeat('x', 100_000));
    } catch (ClientDisconnected $e) {
        $GLOBALS['log'][] = 'writer: ' . $e::class;
    }
}));
$client = S\connect($writes);
fwrite($client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
fread($client, 100_000);
fclose($client);
T\until(fn() => $GLOBALS['log'] !== []);
echo $log[0], "\n";
foreach ([$server, $slow, $stubborn, $writes] as $one) $one->stop();
?>
--EXPECT--
/sleep Async\Http\ClientDisconnected, /sleep finally
/delay Async\Http\ClientDisconnected, /delay finally
/child Async\Http\ClientDisconnected, /child finally
/pipe Async\Http\ClientDisconnected, /pipe finally
/body Async\Http\ClientDisconnected, /body finally
/delay Async\Http\ClientDisconnected, /delay finally
503
own answer
The response has not begun in time after Async\TimeoutException: The wait for the response was given up after 50 ms, The response has not begun in time after Async\TimeoutException: The wait for the response was given up after 50 ms
503
1 still runs
writer: Async\Http\ClientDisconnected
