<?php
/*
 * The server that tests/server/run talks to, with TLS if it gets the names of certificates: those in NAME.pem and NAME.key of the
 * folder in which it is. Prints its address, and at its end what is left. SIGHUP reloads the certificates.
 */

use Async\Http\{Request, Response, Server, Tls, Writer};
use function Async\{await, delay, signal, spawn};

/* What a browser is shown. It has loaded the page when it has loaded the frame, whose document comes when the script is done. */
const PAGE = <<<'HTML'
    <!doctype html><title>page</title><ul></ul><iframe src="/gate"></iframe>
    <script>
        const seen = [];
        const done = text => {
            seen.push(text);
            const line = document.createElement('li');
            document.querySelector('ul').append(Object.assign(line, {textContent: text}));
            if (seen.filter(text => text.endsWith('end')).length === 2) fetch('/done');
        };
        const socket = new WebSocket(`${location.protocol.replace('http', 'ws')}//${location.host}/echo`, ['other', 'chat']);
        socket.binaryType = 'arraybuffer';
        socket.onopen = () => { socket.send('h\u00e4llo'); socket.send(new Uint8Array(70000)); socket.send('close'); };
        socket.onmessage = event => done('socket ' + (event.data.byteLength ?? event.data) + ' ' + socket.protocol);
        socket.onclose = event => done(`socket ${event.code} ${event.reason} ${event.wasClean} end`);
        const events = new EventSource('/events');
        events.onmessage = event => done(`event ${JSON.stringify(event.data)} ${event.lastEventId}`);
        events.addEventListener('tick', event => done(`tick ${event.data} ${event.lastEventId}`));
        events.addEventListener('last', event => { events.close(); done(`${event.data} end`); });
    </script>
    HTML;
$done = new Async\FutureState();
$gone = new Async\Future($done);
$fifty = (object) ['count' => 0, 'all' => new Async\FutureState()];

$begun = $ended = $reloads = 0;
$tls = null;
foreach (array_slice($argv, 1) as $name) {
    $tls = $tls ? $tls->add("$name.pem", "$name.key") : new Tls("$name.pem", "$name.key");
}
$server = (new Server(['max_body_size' => 4 << 20, 'max_concurrency' => 64, 'queue_timeout' => 0, 'compression' => true] + ($tls ? ['header_timeout' => 2] : [])))
    ->listen('127.0.0.1:0', $tls)->files('/files', getcwd(), ['cache_control' => 'max-age=60']);
$server->handle(function (Request $r) use ($server, &$begun, &$ended, &$reloads, $done, $gone, $fifty) {
    switch ($r->path()) {
        case '/hello': return new Response('Hello', 200, ['Content-Type' => 'text/plain']);
        case '/protocol': return $r->protocol();
        case '/scheme': return $r->scheme();
        case '/zero': return function(Writer $w) { foreach (['', 'a', '', '', 'b', ''] as $piece) { $w->write($piece); $w->flush(); } };
        case '/slowly':
            for ($n = 0; ($piece = $r->read(16384)) !== null; $n += strlen($piece)) usleep(2000);
            return "$n";
        case '/cut': return function(Writer $w) { $w->write('some of it'); $w->flush(); throw new RuntimeException('cut'); };
        case '/md5': return md5($r->body()) . ' ' . strlen($r->body());
        case '/pieces':
            for ($hash = hash_init('md5'), $n = 0; ($piece = $r->read()) !== null; $n += strlen($piece)) hash_update($hash, $piece);
            return hash_final($hash) . " $n";
        case '/unread': return 'not read';
        case '/download': return new Response(function (Writer $w) {
            for ($i = 0; $i < 256; $i++) $w->write(str_repeat(chr($i), 16384));
        });
        case '/files': return implode(' ', array_map(fn($f) => $f->name() . ':' . md5_file($f->path()), $r->files())) . ' ' . $r->form('a');
        case '/lines': return new Response(implode('', array_map(fn($i) => "line $i of many\n", range(1, 20_000))), 200, ['Content-Type' => 'text/plain']);
        case '/lines-in-pieces': return new Response((function () {
            foreach (range(1, 20_000) as $i) {
                yield "line $i of many\n";
                if ($i % 5000 === 0) delay(1);
            }
        })(), 200, ['Content-Type' => 'text/plain']);
        case '/first-and-wait':
            $begun++;
            return new Response(function (Writer $writer) use (&$ended) {
                try { $writer->write("first\n"); delay(1_000_000); } finally { $ended++; }
            }, 200, ['Content-Type' => 'text/plain']);
        case '/trailer': return (new Response('body'))->trailer('X-Sum', '42');
        case '/wait':
            $begun++;
            try { sleep(1000); } finally { $ended++; }
        case '/slow': // until a signal has come, and then for a while, in which the server acts on it
            Async\awaitAny([signal(SIGTERM), signal(SIGHUP)]);
            delay(100);
            return 'slow';
        case '/fifty': // answers fifty requests that wait at once
            $all = $fifty->all;
            if (++$fifty->count === 50) {
                [$fifty->count, $fifty->all] = [0, new Async\FutureState()];
                $all->complete(true);
            }
            await(new Async\Future($all));
            return 'here';
        case '/page': return PAGE;
        case '/gate': await($gone); return 'open';
        case '/done': $done->complete(true); return 'done';
        case '/echo':
            $socket = $r->upgrade(['chat'], ['*']);
            foreach ($socket as $message) {
                if ("$message" === 'close') $socket->close(4000, 'as asked');
                elseif ("$message" === 'throw') throw new RuntimeException('thrown in a socket');
                else $message->isBinary() ? $socket->sendBinary("$message") : $socket->send("$message");
            }
            return null;
        case '/events':
            // A browser whose connection ends comes again, with the id of the last event.
            if ($r->header('Last-Event-ID') === '7') return Response::events([['data' => 'came again', 'event' => 'last']]);
            return Response::events((function () {
                yield "two\nlines: \u{e4}";
                yield ['data' => 'now', 'event' => 'tick', 'id' => '7', 'retry' => 10];
            })());
        case '/endless':
            $begun++;
            return Response::events(function (Writer $writer) use (&$ended) { try { $writer->event('x'); delay(1_000_000); } finally { $ended++; } }, 0.01);
        case '/throw': throw new RuntimeException('thrown');
        case '/stats': return Response::json($server->stats() + ['begun' => $begun, 'ended' => $ended, 'reloads' => $reloads,
            'descriptors' => count(scandir('/proc/self/fd')), 'coroutines' => count(Async\getCoroutines()),
            'rss' => (int) explode(' ', file_get_contents('/proc/self/statm'))[1] * 4]);
    }
    return new Response('not found', 404);
});
$stop = spawn(function () use ($server) {
    await(signal(SIGTERM));
    $server->stop(10);
});
$reload = $tls ? spawn(function () use ($tls, &$reloads) {
    for (;; $reloads++) {
        await(signal(SIGHUP));
        $tls->reload();
    }
}) : null;
echo $server->address(), "\n";
$server->run();
$stop->cancel();
$reload?->cancel();
echo "stopped, $begun have begun, $ended have ended\n";
