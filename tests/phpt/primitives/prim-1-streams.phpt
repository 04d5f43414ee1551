--TEST--
PRIM-1 Channel::fromStream() and toStream(): lines, chunks, pairs of sockets, named pipes, failures
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\Channel;
use function Async\{await, awaitAll, spawn};

// PHP 8.5 has other words for a closed stream.
ob_start(fn($text) => str_replace('Argument #1 ($stream) must be an open stream resource', 'supplied resource is not a valid stream resource', $text));
T\work_in(['lines' => "one\ntwo\n\nlast without an end"]);
attempt('lines', fn() => iterator_to_array(Channel::fromStream(fopen('lines', 'r'))));
attempt('chunks', fn() => iterator_to_array(Channel::fromStream(stream: fopen('lines', 'r'), chunk: 10)));
attempt('ahead', function() {
    $c = Channel::fromStream(fopen('lines', 'r'), capacity: 2);
    T\until(fn() => $c->isFull());
    return [count($c), $c->capacity(), $c->recv(), ...iterator_to_array($c)];
});
attempt('empty', fn() => iterator_to_array(Channel::fromStream(fopen('php://memory', 'r'))));
attempt('to a stream', function() {
    $c = new Channel(9);
    foreach (['a', 2, 3.5, true, null, 'z'] as $value) $c->send($value);
    $c->close();
    $file = fopen('out', 'w');
    return [$c->toStream($file, ','), fclose($file), file_get_contents('out')];
});
// two coroutines over a pair of sockets
attempt('pair', function() {
    [$a, $b] = T\pair();
    $numbers = new Channel;
    $writer = spawn(function() use ($numbers, $a) { $n = $numbers->toStream(stream: $a, separator: "\n"); fclose($a); return $n; });
    spawn(function() use ($numbers) { for ($i = 0; $i < 1000; $i++) $numbers->send($i); $numbers->close(); });
    $sum = 0;
    foreach (Channel::fromStream($b) as $line) $sum += (int) $line;
    return [await($writer), $sum];
});
// and over a named pipe, with what does not fit into it
posix_mkfifo('fifo', 0600);
attempt('named pipe', fn() => awaitAll([
    'written' => spawn(function() {
        $c = new Channel(4);
        spawn(function() use ($c) { for ($i = 0; $i < 40; $i++) $c->send(str_repeat(chr(97 + $i % 26), 8191)); $c->close(); });
        return $c->toStream(fopen('fifo', 'w'), "\n");
    }),
    'read' => spawn(function() {
        $lines = 0;
        foreach (Channel::fromStream(fopen('fifo', 'r'), capacity: 3) as $line) $lines += (int) (strlen($line) === 8192);
        return $lines;
    }),
]));
attempt('not a stream', fn() => Channel::fromStream('lines'));
attempt('negative chunk', fn() => Channel::fromStream(STDIN, -1));
attempt('negative capacity', fn() => Channel::fromStream(STDIN, 0, -1));
attempt('closed stream', function() { $f = fopen('lines', 'r'); fclose($f); return iterator_to_array(Channel::fromStream($f)); });
attempt('to a closed stream', function() { $f = fopen('out', 'w'); fclose($f); $c = new Channel(1); $c->send('x'); $c->toStream($f); });
attempt('to one for reading', function() { $c = new Channel(1); $c->send('x'); @$c->toStream(fopen('lines', 'r')); });
attempt('what is no text', function() { $c = new Channel(1); $c->send(new stdClass); $c->toStream(fopen('out', 'w')); });
attempt('closed with a reason', function() { $c = new Channel(1); $c->send('x'); $c->close(new LogicException('why')); return $c->toStream(fopen('out', 'w')); });
?>
--EXPECT--
lines: ["one\n","two\n","\n","last without an end"]
chunks: ["one\ntwo\n\nl","ast withou","t an end"]
ahead: [2,2,"one\n","two\n","\n","last without an end"]
empty: []
to a stream: [13,true,"a,2,3.5,1,,z,"]
pair: [3890,499500]
named pipe: {"written":327680,"read":40}
not a stream: TypeError: Async\Channel::fromStream(): Argument #1 ($stream) must be a stream
negative chunk: ValueError: Async\Channel::fromStream(): Argument #2 ($chunk) must not be negative
negative capacity: ValueError: Async\Channel::fromStream(): Argument #3 ($capacity) must not be negative
closed stream: Async\ChannelException: The channel is closed after TypeError: fgets(): supplied resource is not a valid stream resource
to a closed stream: TypeError: fwrite(): supplied resource is not a valid stream resource
to one for reading: Async\AsyncException: The stream cannot be written to
what is no text: Error: Object of class stdClass could not be converted to string
closed with a reason: Async\ChannelException: The channel is closed after LogicException: why
