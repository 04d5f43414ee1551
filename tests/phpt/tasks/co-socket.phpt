--TEST--
CoSocket: long writes, closed streams, streams that give no connection
--FILE--
<?php
use Async\Task\{CoSocket, Scheduler, SystemCall};

require __DIR__ . '/kit.inc';

function pair(): array
{
    $pair = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    foreach ($pair as $stream) stream_set_blocking($stream, false);
    return $pair;
}

$s = new Scheduler;
[$a, $b] = pair();
$s->newTask((function() use ($a) {
    $socket = new CoSocket($a);
    echo 'written: ', yield $socket->write(str_repeat('x', 3_000_000)), ', ', yield $socket->write(''), "\n";
    var_dump($socket->close(), yield $socket->close());
})());
$s->newTask((function() use ($b) {
    $socket = new CoSocket($b);
    for ($count = 0; ($data = yield $socket->read(100_000)) !== ''; ) $count += strlen($data);
    echo "read: $count\n";
})());
$s->run();

$s->newTask((function() use ($a) {
    $closed = null;
    [$c, $d] = pair();
    $socket = new CoSocket($c);
    $socket->close();
    foreach ([fn() => $socket->accept(), fn() => $socket->read(1), fn() => $socket->write('x')] as $call) {
        try {
            yield $call();
            echo "WRONG: nothing is thrown\n";
        } catch (Async\AsyncException $e) {
            echo said($e), "\n";
        }
    }
    try {
        yield $socket->read(0);
    } catch (ValueError $e) {
        echo said($e), "\n";
    }
    try {
        new CoSocket($c);
    } catch (TypeError $e) {
        echo said($e), "\n";
    }
    // it can be read, but listens to nothing
    [$e, $f] = pair();
    fwrite($f, 'x');
    try {
        yield (new CoSocket($e))->accept();
        echo "WRONG: nothing is thrown\n";
    } catch (Async\AsyncException $e) {
        echo said($e), "\n";
    }
    // nobody reads any more
    [$e, $f] = pair();
    fclose($f);
    var_dump(@(yield (new CoSocket($e))->write('x')));
})());
$s->newTask(bystander(50));
$s->run();
?>
--EXPECT--
written: 3000000, 0
NULL
NULL
read: 3000000
Async\AsyncException: The stream is closed
Async\AsyncException: The stream is closed
Async\AsyncException: The stream is closed
ValueError: Async\Task\CoSocket::read(): Argument #1 ($size) must be greater than 0
TypeError: Async\Task\CoSocket::__construct(): Argument #1 ($socket) must be an open stream resource
Async\AsyncException: The stream is ready, but does not accept a connection
bool(false)
the bystander has ended
