--TEST--
Async\Http: requests, writers and processes that outlive their request; bodies that nobody would get are not made
--FILE--
<?php
require __DIR__ . '/server.inc';

use Async\Http\{Request, Response, Server, Writer};
use function Async\{await, delay, spawn};

$kept = $made = null;
$done = [];
$server = S\serve(function(Request $r) use (&$kept, &$done, &$made) {
    $kept = $r;
    switch ($r->path()) {
        case '/reads-on':
            spawn(function() use ($r, &$done) {
                $first = $r->read(3);
                delay(20);
                $done[] = $first . ' ' . S\refused(function() use ($r) { while ($r->read() !== null); });
            });
            delay(1);
            return 'answered';
        case '/writer':
            return new Response(function(Writer $w) use (&$kept) { $kept = $w; $w->write('x'); });
        case '/endless':
            return new Response(function(Writer $w) use (&$made) { $made = true; while (true) $w->write('x'); }, $r->method() === 'HEAD' ? 200 : 304);
    }
    return 'plain';
});
S\get($server, '/');
T\until(fn() => $server->stats()['connections'] === 0);
echo $kept->method(), ' ', $kept->header('host'), ' ', var_export($kept->read(), true), ' ', var_export($kept->body(), true), "\n";

$client = S\connect($server);
fwrite($client, "POST /reads-on HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 10\r\n\r\nabcdef");
echo S\body(stream_get_contents($client)), "\n";
fclose($client);
T\until(fn() => $GLOBALS['done'] !== []);
echo $done[0], "\n";

S\get($server, '/writer');
echo S\refused(fn() => $kept->write('more')), "\n";

foreach (['HEAD', 'GET'] as $method) echo S\status(S\send($server, S\request($method, '/endless'))), "\n";
var_dump($made);
$server->stop();

if (function_exists('pcntl_fork')) {
    T\work_in();
    $path = getcwd() . '/socket';
    $server = (new Server)->listen("unix:$path")->handle(function() {
        if (($child = pcntl_fork()) === 0) exit(0);
        pcntl_waitpid($child, $status);
        return "the child has ended with $status";
    });
    $run = spawn($server->run(...));
    foreach ([1, 2] as $round) {
        $client = stream_socket_client("unix://$path");
        fwrite($client, S\request('GET', '/'));
        $got = S\body(stream_get_contents($client));
        if ($got !== 'the child has ended with 0' || !file_exists($path)) echo "$round: $got\n";
    }
    $server->stop();
    await($run);
}
echo "done\n";
?>
--EXPECT--
GET test NULL ''
answered
abc Async\Http\ServerException: The body of the request is incomplete, or its response is sent
Async\Http\ServerException: The response is complete, or longer than its Content-Length
200
304
NULL
done
