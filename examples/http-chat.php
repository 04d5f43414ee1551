<?php

/**
 * A chat: a page, a WebSocket for each browser, and what one says is sent to all.
 *
 *     php -d extension=build/spindle.so examples/http-chat.php [127.0.0.1:8080]
 *
 * Then open http://127.0.0.1:8080/ in two windows.
 */

declare(strict_types=1);

use Async\Channel;
use Async\Http\{Request, Response, Server};
use function Async\{awaitAny, signal, spawn};

/** Everyone who is there: what is to be sent to them. */
$outboxes = [];

$server = new Server();
$server->listen($argv[1] ?? '127.0.0.1:8080');

$server->handle(function (Request $request) use (&$outboxes): ?Response {
    if (!$request->isWebSocket()) {
        return new Response(PAGE);
    }
    static $last = 0;
    $id = ++$last;
    $socket = $request->upgrade();

    // Someone who reads slowly keeps nobody waiting: whose outbox is full is shown the door.
    $outboxes[$id] = $outbox = new Channel(100);
    spawn(function () use ($socket, $outbox): void {
        foreach ($outbox as $line) {
            $socket->send($line);
        }
        $socket->close(1013, 'too slow');
    });
    $tell = function (string $line) use (&$outboxes): void {
        foreach ($outboxes as $other => $outbox) {
            if (!$outbox->trySend($line)) {
                unset($outboxes[$other]);
                $outbox->close();
            }
        }
    };

    try {
        $tell("$id has come");
        foreach ($socket as $message) {
            $tell("$id: $message");
        }
    } finally {
        unset($outboxes[$id]);
        $outbox->close();
        $tell("$id has left");
    }
    return null;
});

spawn(function () use ($server): void {
    awaitAny([signal(SIGINT), signal(SIGTERM)]);
    $server->stop(2);
});

const PAGE = <<<'HTML'
    <!doctype html><meta charset="utf-8"><title>Chat</title>
    <form><input name="text" autocomplete="off" autofocus> <button>Say</button></form>
    <ul></ul>
    <script>
        const socket = new WebSocket(`ws://${location.host}/`);
        socket.onmessage = event => {
            const line = document.createElement('li');
            line.textContent = event.data;
            document.querySelector('ul').prepend(line);
        };
        document.forms[0].onsubmit = event => {
            event.preventDefault();
            socket.send(document.forms[0].text.value);
            document.forms[0].reset();
        };
        const say = new URLSearchParams(location.search).get('say');
        socket.onopen = () => say && socket.send(say);
    </script>
    HTML;

echo "http://{$server->address()}/\n";
$server->run();
