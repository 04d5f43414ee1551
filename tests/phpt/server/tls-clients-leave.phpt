--TEST--
Async\Http: clients with TLS that leave at any time, or are slow, leave nothing behind
--EXTENSIONS--
openssl
--SKIPIF--
<?php
if (!file_exists('/proc/self/fd')) die('skip no /proc');
?>
--FILE--
<?php
require __DIR__ . '/server.inc';
require __DIR__ . '/tls.inc';

use Async\Http\{ClientDisconnected, Request, Response, Tls, Writer};

T\work_in();
L\certificate('one', 'one.example');
$log = S\log_file();
$ended = new ArrayObject;
$seen = false;
$handler = function(Request $r) use ($ended, &$seen) {
    try {
        switch ($r->path()) {
            case '/sleep': sleep(1000);
            case '/body': $r->body(); break;
            case '/endless': return function(Writer $w) use ($ended) {
                try { while (true) $w->write(str_repeat('x', 100_000)); } finally { $ended[] = 'endless'; }
            };
            case '/fails': return function(Writer $w) use (&$seen) {
                $w->write('begun');
                T\until(function() use (&$seen) { return $seen; });
                throw new Exception('half-way');
            };
        }
    } catch (ClientDisconnected $left) {
        $ended[] = substr($r->path(), 1);
        throw $left;
    }
    return 'served';
};
// The time for a head includes the handshake, which an emulated processor needs long for.
$serve = fn($limit) => L\serve(new Tls('one.pem', 'one.key'), $handler, ['header_timeout' => $limit]);
[$server, $strict, $lenient] = array_map($serve, [0, 0.2, 3]);
$is_quiet = fn($of) => $of->stats()['connections'] === 0 && $of->stats()['running'] === 0;
$quiet = fn($of = null) => T\until(fn() => $is_quiet($of ?? $server));
$connect = fn($to = null) => L\connect($to ?? $server, 'one.pem', 'one.example');

echo S\body(L\send($connect(), S\request('GET', '/'))), "\n";
$quiet();
$before = count(scandir('/proc/self/fd'));
foreach (['/sleep' => '', '/body' => "Content-Length: 10\r\n", '/endless' => ''] as $path => $headers) {
    foreach ([STREAM_SHUT_RDWR, null] as $how) {
        $client = $connect();
        fwrite($client, "GET $path HTTP/1.1\r\nHost: test\r\n$headers\r\n");
        T\until(fn() => $server->stats()['running'] === 1);
        if ($path === '/endless') fread($client, 10);
        $how === null || stream_socket_shutdown($client, $how);
        fclose($client);
        $quiet();
    }
}
echo implode(' ', (array) $ended), "\n";

echo "--- in the handshake, and slow ones\n";
foreach (['', "\x16", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 'GET'] as $bytes) {
    $client = S\connect($server);
    fwrite($client, $bytes);
    T\until(fn() => $server->stats()['connections'] === 1);
    fclose($client);
    $quiet();
    $client = S\connect($strict);
    fwrite($client, $bytes);
    stream_get_contents($client); // the time for a head is over, or it is refused
    fclose($client);
    $quiet($strict);
}
$client = $connect($lenient);
fwrite($client, "GET / HTTP/1.1\r\nHo");
var_dump(stream_get_contents($client));
fclose($client);
$quiet($lenient);
var_dump(count(scandir('/proc/self/fd')) - $before);

echo "--- a handler that fails half-way\n";
$client = $connect();
fwrite($client, "GET /fails HTTP/1.0\r\nHost: test\r\n\r\n");
for ($got = ''; !str_ends_with($got, 'begun') && !feof($client); $got .= fread($client, 8192));
$seen = true;
echo substr($got . stream_get_contents($client), -5), "\n", S\reports($log), "\n";
fclose($client);
$quiet();
foreach ([$server, $strict, $lenient] as $running) $running->stop();
?>
--EXPECT--
served
sleep sleep body body endless endless
--- in the handshake, and slow ones
string(0) ""
int(0)
--- a handler that fails half-way
begun
Warning:  Uncaught Exception: half-way
