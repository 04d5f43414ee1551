<?php

/**
 * A chat: a page, a WebSocket for each browser, and what one says is sent to all, whichever worker they are connected to.
 *
 *     build/spindle serve examples/http-chat.php --workers 4
 *
 * Then open http://127.0.0.1:8080/ in two windows.
 */

declare(strict_types=1);

use Async\Http\{MessagesLost, Request, Response, Topic};
use function Async\spawn;

const PAGE = <<<'HTML'
    <!doctype html><meta charset="utf-8"><title>Chat</title>
    <form><input name="text" autocomplete="off" autofocus> <button>Say</button></form>
    <ul></ul>
    <script>
        const socket = new WebSocket(`${location.protocol.replace('http', 'ws')}//${location.host}/`);
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

return function (Request $request): ?Response {
    if (!$request->isWebSocket()) {
        return new Response(PAGE);
    }
    $name = $request->query('name') ?? 'guest ' . bin2hex(random_bytes(3));
    $room = new Topic('chat');
    $lines = $room->subscribe(100);
    $socket = $request->upgrade();

    // Someone who reads slowly keeps nobody waiting: who is 100 lines behind is shown the door.
    spawn(function () use ($socket, $lines): void {
        try {
            foreach ($lines as $line) {
                $socket->send($line);
            }
        } catch (MessagesLost) {
            $socket->close(1013, 'too slow');
        }
    });

    try {
        $room->publish("$name has come");
        foreach ($socket as $message) {
            $room->publish("$name: $message");
        }
    } finally {
        $lines->close();
        $room->publish("$name has left");
    }
    return null;
};
