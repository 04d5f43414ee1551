<?php
/* The server that tests/server/run talks to. Prints its address, and at its end what is left. */

use Async\Http\{Request, Response, Server, Writer};
use function Async\{await, delay, signal, spawn};

$begun = $ended = 0;
$server = (new Server(['max_body_size' => 4 << 20, 'max_concurrency' => 64, 'queue_timeout' => 0]))->listen('127.0.0.1:0');
$server->handle(function (Request $r) use ($server, &$begun, &$ended) {
    switch ($r->path()) {
        case '/hello': return new Response('Hello', 200, ['Content-Type' => 'text/plain']);
        case '/protocol': return $r->protocol();
        case '/md5': return md5($r->body()) . ' ' . strlen($r->body());
        case '/pieces':
            for ($hash = hash_init('md5'), $n = 0; ($piece = $r->read()) !== null; $n += strlen($piece)) hash_update($hash, $piece);
            return hash_final($hash) . " $n";
        case '/unread': return 'not read';
        case '/download': return new Response(function (Writer $w) {
            for ($i = 0; $i < 256; $i++) $w->write(str_repeat(chr($i), 16384));
        });
        case '/files': return implode(' ', array_map(fn($f) => $f->name() . ':' . md5_file($f->path()), $r->files())) . ' ' . $r->form('a');
        case '/trailer': return (new Response('body'))->trailer('X-Sum', '42');
        case '/wait':
            $begun++;
            try { sleep(1000); } finally { $ended++; }
        case '/slow': delay(300); return 'slow';
        case '/throw': throw new RuntimeException('thrown');
        case '/stats': return Response::json($server->stats() + ['begun' => $begun, 'ended' => $ended,
            'descriptors' => count(scandir('/proc/self/fd')), 'coroutines' => count(Async\getCoroutines()),
            'rss' => (int) explode(' ', file_get_contents('/proc/self/statm'))[1] * 4]);
    }
    return new Response('not found', 404);
});
$stop = spawn(function () use ($server) {
    await(signal(SIGTERM));
    $server->stop(10);
});
echo $server->address(), "\n";
$server->run();
$stop->cancel();
echo "stopped, $begun have begun, $ended have ended\n";
