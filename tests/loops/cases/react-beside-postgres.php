<?php
// needs: react/socket

declare(strict_types=1);

use Loops\Service;
use React\EventLoop\Loop;
use React\Socket\ConnectionInterface;
use React\Socket\SocketServer;

Loop::set(new Spindle\React\SpindleLoop());

Loops\beside_postgres(static function (Service $service, Closure $listens, Closure $isOver): void {
    $server = new SocketServer('127.0.0.1:0');
    $listens((int) parse_url($server->getAddress(), PHP_URL_PORT));
    $server->on('connection', static function (ConnectionInterface $client) use ($server, $service, $isOver): void {
        if ($isOver()) {
            $server->close();
            $client->close();
            return;
        }
        $buffer = '';
        $client->on('data', static function (string $chunk) use ($client, &$buffer, $service): void {
            $buffer .= $chunk;
            while (($end = strpos($buffer, "\n")) !== false) {
                [$line, $buffer] = [substr($buffer, 0, $end), substr($buffer, $end + 1)];
                // The answer that comes later is another coroutine's: the loop writes it.
                $answer = $service->answer($line, static fn (string $text) => Loop::futureTick(fn () => $client->write($text)));
                $answer === null || $client->write($answer);
            }
        });
    });
    Loop::run();
});
