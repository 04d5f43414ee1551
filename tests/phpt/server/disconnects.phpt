--TEST--
Async\Http: two thousand clients that leave, in whatever state, leave no coroutine, descriptor, memory or handler behind
--FILE--
<?php
require __DIR__ . '/server.inc';

use Async\Http\{Request, Response, Writer};
use function Async\{await, delay, spawn};

$ended = $begun = 0;
$server = S\serve(function(Request $r) use (&$begun, &$ended) {
    $begun++;
    try {
        switch ($r->path()) {
            case '/sleep': sleep(1000);
            case '/body': return $r->body();
            case '/write': return new Response(function(Writer $w) { while (true) { $w->write('x'); delay(1); } });
            case '/child': spawn(fn() => delay(1_000_000)); delay(1_000_000);
        }
    } finally {
        $ended++;
    }
});
$coroutines = count(Async\getCoroutines());
$requests = [
    "GET /sleep HTTP/1.1\r\nHost: x\r\n\r\n",
    "POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc",
    "GET /write HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET /child HTTP/1.1\r\nHost: x\r\n\r\n",
    "POST /sleep HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc",
    "GET /sleep HTTP/1.1\r\nHo",
    '',
];
$descriptors = fn() => count(scandir('/proc/self/fd'));
$round = function(int $count) use ($server, $requests, &$begun) {
    for ($i = 0; $i < $count; $i += 50) {
        $clients = [];
        for ($k = 0; $k < 50; $k++) {
            $clients[] = $client = S\connect($server);
            fwrite($client, $requests[($i + $k) % count($requests)]);
        }
        if ($i % 100) T\until(fn() => $server->stats()['running'] > 10);
        $clients = $client = null;
        T\until(fn() => $server->stats()['connections'] === 0 && $server->stats()['running'] === 0);
    }
};
$round(500);
gc_collect_cycles();
[$fds, $memory] = [$descriptors(), memory_get_usage()];
$rss = fn() => (int) explode(' ', file_get_contents('/proc/self/statm'))[1] * 4096;
$resident = $rss();
$round((int) (getenv('SPINDLE_DISCONNECTS') ?: 1500));
gc_collect_cycles();
echo $begun === $ended ? "all have ended\n" : "$begun have begun, $ended have ended\n";
echo count(Async\getCoroutines()) - $coroutines, " coroutines more\n";
echo $descriptors() - $fds, " descriptors more\n";
echo memory_get_usage() - $memory < 65536 ? "no memory of PHP's more\n" : (memory_get_usage() - $memory) . " bytes more\n";
echo $rss() - $resident < 8 << 20 ? "no memory more\n" : ($rss() - $resident) . " bytes more\n";
$server->stop();
?>
--EXPECT--
all have ended
0 coroutines more
0 descriptors more
no memory of PHP's more
no memory more
