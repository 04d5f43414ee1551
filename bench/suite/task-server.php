<?php
/**
 * A web server of generator tasks: `php task-server.php spindle|plain`. Prints its port and its process id, then serves until it
 * is killed. Each connection gets one task, one answer, and is closed. The code is the same on both sides, but for the scheduler.
 */
require __DIR__ . '/../lib/tasks.php';

$side = $argv[1];

function server(Async\Task\CoSocket|Plain\CoSocket $listening, Closure $newTask): Generator
{
    while (true) {
        yield $newTask(answer(yield $listening->accept()));
    }
}

function answer(Async\Task\CoSocket|Plain\CoSocket $client): Generator
{
    yield $client->read(8192);
    yield $client->write("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\nConnection: close\r\n\r\nHello");
    yield $client->close();
}

$listening = stream_socket_server('tcp://127.0.0.1:0', $code, $message, STREAM_SERVER_BIND | STREAM_SERVER_LISTEN,
    stream_context_create(['socket' => ['backlog' => 511]]));
if (!$listening) {
    fwrite(STDERR, "listen: $message\n");
    exit(1);
}
stream_set_blocking($listening, false);
echo substr(strrchr(stream_socket_get_name($listening, false), ':'), 1), ' ', getmypid(), "\n";
if ($side === 'spindle') {
    $scheduler = new Async\Task\Scheduler();
    $scheduler->newTask(server(new Async\Task\CoSocket($listening), Async\Task\newTask(...)));
} else {
    $scheduler = new Plain\Scheduler();
    $scheduler->newTask(server(new Plain\CoSocket($listening), Plain\newTask(...)));
}
$scheduler->run();
