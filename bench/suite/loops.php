<?php
/**
 * Echo servers on event loops in PHP: `php loops.php spindle|plain react|revolt`. Prints its port and its process id, then serves
 * until it is killed. The Spindle side is the package for the loop, the plain side the library's own on stream_select(). The
 * libraries are in the folder that SPINDLE_SOURCES names.
 */
require dirname(__DIR__, 2) . '/tests/loops/autoload.php';

[, $side, $kind] = $argv;

function react(string $side): void
{
    $loop = $side === 'spindle' ? new Spindle\React\SpindleLoop() : new React\EventLoop\StreamSelectLoop();
    $server = new React\Socket\TcpServer('127.0.0.1:0', $loop);
    $server->on('connection', static function (React\Socket\ConnectionInterface $client): void {
        $client->on('data', static fn (string $data) => $client->write($data));
    });
    echo parse_url($server->getAddress(), PHP_URL_PORT), ' ', getmypid(), "\n";
    $loop->run();
}

/** The loop by itself: what AMPHP's sockets do with it. */
function revolt(string $side): void
{
    $loop = $side === 'spindle' ? new Spindle\Revolt\SpindleDriver() : new Revolt\EventLoop\Driver\StreamSelectDriver();
    $flags = STREAM_SERVER_BIND | STREAM_SERVER_LISTEN;
    $server = stream_socket_server('tcp://127.0.0.1:0', $code, $error, $flags, stream_context_create(['socket' => ['backlog' => 512]]));
    stream_set_blocking($server, false);
    $loop->onReadable($server, static function ($id, $server) use ($loop): void {
        while ($client = @stream_socket_accept($server, 0)) {
            stream_set_blocking($client, false);
            stream_set_read_buffer($client, 0);
            $loop->onReadable($client, static function (string $id, $client) use ($loop): void {
                $data = fread($client, 8192);
                if ($data !== '' && $data !== false) {
                    fwrite($client, $data);
                } elseif (feof($client)) {
                    $loop->cancel($id);
                    fclose($client);
                }
            });
        }
    });
    echo parse_url('tcp://' . stream_socket_get_name($server, false), PHP_URL_PORT), ' ', getmypid(), "\n";
    $loop->run();
}

Loops\load(['react' => 'react/socket', 'revolt' => 'revolt/event-loop'][$kind]);
$kind($side);
