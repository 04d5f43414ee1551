--TEST--
PRIM-1 Channel: receivers and senders are served in order of arrival, and values keep their order
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\Channel;
use function Async\{await, spawn, suspend};

$c = new Channel;
$receivers = in_turn(...array_fill(0, 4, fn() => $c->recv()));
foreach (['a', 'b', 'c', 'd'] as $value) {
    $c->send($value);
}
echo implode(' ', T\all($receivers)), "\n";

foreach ([0, 1, 2] as $capacity) {
    $c = new Channel($capacity);
    $done = [];
    for ($i = 0; $i < 5; $i++) {
        in_turn(function() use ($c, $i, &$done) { $c->send($i); $done[] = $i; });
    }
    echo "capacity $capacity: ", count($done), ' sent, count ', count($c), "\n";
    $got = [];
    for ($i = 0; $i < 5; $i++) {
        $got[] = $c->recv();
        while (count($done) < min($i + 1 + $capacity, 5)) suspend();
        echo implode($got), ' received, ', implode($done), " sent\n";
    }
}

// one that comes while others wait does not overtake them
$c = new Channel(1);
$c->send(1);
in_turn(fn() => $c->send(2), fn() => $c->send(3));
attempt('trySend', fn() => $c->trySend(4));
attempt('all', fn() => [$c->recv(), $c->recv(), $c->recv(), $c->tryRecv()]);
$c = new Channel;
$first = spawn(fn() => $c->recv());
T\begun($first);
$c->trySend('for the first');
attempt('tryRecv', fn() => $c->tryRecv());
attempt('first', fn() => await($first));
?>
--EXPECT--
a b c d
capacity 0: 0 sent, count 0
0 received, 0 sent
01 received, 01 sent
012 received, 012 sent
0123 received, 0123 sent
01234 received, 01234 sent
capacity 1: 1 sent, count 1
0 received, 01 sent
01 received, 012 sent
012 received, 0123 sent
0123 received, 01234 sent
01234 received, 01234 sent
capacity 2: 2 sent, count 2
0 received, 012 sent
01 received, 0123 sent
012 received, 01234 sent
0123 received, 01234 sent
01234 received, 01234 sent
trySend: false
all: [1,2,3,null]
tryRecv: null
first: "for the first"
