<?php
// needs: amphp/socket

declare(strict_types=1);

use Amp\Socket;
use Loops\Service;
use Revolt\EventLoop;

use function Amp\async;

EventLoop::setDriver(new Spindle\Revolt\SpindleDriver());

Loops\beside_postgres(static function (Service $service, Closure $listens, Closure $isOver): void {
    $server = Socket\listen('127.0.0.1:0');
    $listens($server->getAddress()->getPort());
    $clients = [];
    while (!$isOver() && ($socket = $server->accept())) {
        $clients[] = async(static function () use ($socket, $service): void {
            $buffer = '';
            while (($chunk = $socket->read()) !== null) {
                $buffer .= $chunk;
                while (($end = strpos($buffer, "\n")) !== false) {
                    [$line, $buffer] = [substr($buffer, 0, $end), substr($buffer, $end + 1)];
                    // The answer that comes later is another coroutine's: the loop writes it.
                    $answer = $service->answer($line, static fn (string $text) => EventLoop::queue(fn () => $socket->write($text)));
                    $answer === null || $socket->write($answer);
                }
            }
        });
    }
    $server->close();
    Amp\Future\await($clients);
});
