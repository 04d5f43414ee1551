--TEST--
A web server of tasks answers 200 connections at once, and leaves no socket and no memory behind
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\Task\{CoSocket, Scheduler};
use function Async\Task\newTask;
use function Async\{await, spawn, suspend};

const CLIENTS = 200;

/** Accepts at most so many connections. */
function server(CoSocket $listening, int $connections): Generator
{
    while ($connections-- > 0) yield newTask(client(yield $listening->accept()));
    yield $listening->close();
}

function client(CoSocket $client): Generator
{
    $data = yield $client->read(8192);
    $text = "Received following request:\n\n$data";
    if (str_contains($data, ' /fails ')) {
        $client->close();
        throw new Exception('a request that fails');
    }
    yield $client->write("HTTP/1.1 200 OK\r\nContent-Length: " . strlen($text) . "\r\nConnection: close\r\n\r\n$text");
    yield $client->close();
}

function ask(string $address, string $path): string
{
    $stream = stream_socket_client($address, $code, $message, 60);
    if (!$stream) return "no connection: $message";
    // All are connected before the first one asks.
    $GLOBALS['connected']++;
    while ($GLOBALS['connected'] < CLIENTS) suspend();
    fwrite($stream, "GET $path HTTP/1.1\r\nHost: here\r\n\r\n");
    $answer = stream_get_contents($stream);
    fclose($stream);
    return $answer;
}

/** The request of each fifth client fails. */
function round_of_all(): array
{
    $GLOBALS['connected'] = 0;
    $listening = stream_socket_server('tcp://127.0.0.1:0', $code, $message, STREAM_SERVER_BIND | STREAM_SERVER_LISTEN,
        stream_context_create(['socket' => ['backlog' => 511]]));
    stream_set_blocking($listening, false);
    $address = 'tcp://' . stream_socket_get_name($listening, false);
    $scope = new Async\Scope;
    $scope->setExceptionHandler(function() { $GLOBALS['failures']++; });
    $server = $scope->spawn(function() use ($listening) {
        $scheduler = new Scheduler;
        $scheduler->newTask(server(new CoSocket($listening), CLIENTS));
        $scheduler->run();
    });
    $GLOBALS['failures'] = 0;
    $clients = [];
    for ($i = 0; $i < CLIENTS; $i++) {
        $clients[$i] = spawn(ask(...), $address, $i % 5 === 0 ? '/fails' : "/$i");
    }
    $count = ['answered' => 0, 'closed' => 0, 'wrong' => 0];
    foreach ($clients as $i => $client) {
        $answer = await($client);
        $is_answer = str_starts_with($answer, 'HTTP/1.1 200 OK') && str_contains($answer, "GET /$i HTTP/1.1");
        $count[$i % 5 === 0 ? ($answer === '' ? 'closed' : 'wrong') : ($is_answer ? 'answered' : 'wrong')]++;
    }
    await($server);
    T\until(fn() => $GLOBALS['failures'] === $count['closed']);
    return $count;
}

function descriptors(): int
{
    return count(scandir('/proc/self/fd'));
}

for ($round = 0; $round < 2; $round++) round_of_all();
gc_collect_cycles();
$before = [descriptors(), memory_get_usage()];
for ($round = 0; $round < 3; $round++) echo json_encode(round_of_all()), "\n";
gc_collect_cycles();
echo descriptors() - $before[0], " descriptors more\n";
$more = memory_get_usage() - $before[1];
echo $more < 64 * 1024 ? 'no' : $more, " memory more\n";
?>
--EXPECT--
{"answered":160,"closed":40,"wrong":0}
{"answered":160,"closed":40,"wrong":0}
{"answered":160,"closed":40,"wrong":0}
0 descriptors more
no memory more
