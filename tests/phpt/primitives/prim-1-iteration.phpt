--TEST--
PRIM-1 Channel: iteration, several at once, broken off, nested, ended by close() or by its reason
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\Channel;
use function Async\{await, spawn};

$filled = function(array $values, ?Throwable $reason = null): Channel {
    $c = new Channel(count($values));
    array_map($c->send(...), $values);
    $c->close($reason);
    return $c;
};
foreach ($filled(['a', null, false, 'd']) as $key => $value) {
    echo $key, ' => ', var_export($value, true), "\n";
}
// what a loop that is broken off has not asked for stays
$c = $filled([1, 2, 3, 4]);
foreach ($c as $value) {
    if ($value === 2) break;
}
attempt('rest', fn() => iterator_to_array($c));
attempt('ended', fn() => iterator_to_array($c));
// nested loops share the values
$c = $filled([1, 2, 3, 4, 5]);
foreach ($c as $outer) {
    foreach ($c as $inner) {
        echo "$outer $inner\n";
        if ($inner % 2 === 0) break;
    }
}
attempt('reason', function() use ($filled) {
    foreach ($filled([1], new LogicException('why')) as $value) echo $value, "\n";
});
attempt('yield from', fn() => iterator_to_array((fn() => yield from $filled(['x', 'y']))()));
attempt('spread', fn() => [...$filled(['x', 'y'])]);
attempt('functions', fn() => [iterator_count($filled([1, 2, 3])), array_sum(iterator_to_array(new LimitIterator(new IteratorIterator($filled([1, 2, 3])), 0, 2)))]);
attempt('by reference', function() use ($filled) { foreach ($filled([1]) as &$value); });

// four workers: each value goes to one
$c = new Channel;
$workers = [];
for ($i = 0; $i < 4; $i++) {
    $workers[] = spawn(fn() => iterator_to_array($c, false));
}
for ($i = 0; $i < 20; $i++) {
    $c->send($i);
}
$c->close();
$all = array_merge(...T\all($workers));
sort($all);
var_dump($all === range(0, 19));

// one that is cancelled in the middle of a loop
$c = new Channel;
$worker = spawn(function() use ($c) { foreach ($c as $value) echo "received $value\n"; });
$c->send('first');
T\begun($worker);
Async\suspend();
$worker->cancel();
T\ended($worker);
attempt('trySend', fn() => $c->trySend('second'));
?>
--EXPECT--
0 => 'a'
1 => NULL
2 => false
3 => 'd'
rest: [3,4]
ended: []
1 2
3 4
1
reason: Async\ChannelException: The channel is closed after LogicException: why
yield from: ["x","y"]
spread: ["x","y"]
functions: [3,3]
by reference: Error: An iterator cannot be used with foreach by reference
bool(true)
received first
trySend: false
