--TEST--
PRIM-1 Channel: iteration by the engine calls no method, keeps what it needs, and can be collected
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\Channel;
use function Async\{await, spawn, suspend};

// the iterator keeps the channel, and the loop its iterator
$c = new Channel(2);
$c->send('a');
$c->send('b');
foreach ($c as $value) {
    $c = null;
    gc_collect_cycles();
    echo "$value\n";
    if ($value === 'b') break;
}
// values are released when the next one is asked for; a destructor may suspend
$c = new Channel(3);
$c->send(new Doing(function() { suspend(); echo "released\n"; }));
$c->send('after it');
$c->close();
foreach ($c as $value) {
    echo is_object($value) ? 'an object' : $value, "\n";
    $value = null;
}
// what a destructor throws ends the loop, and loses no value
$c = new Channel(3);
$c->send(new Doing(function() { throw new Exception('by the destructor'); }));
$c->send('the next');
$c->close();
try {
    foreach ($c as $value) $value = null;
} catch (Exception $e) {
    echo $e->getMessage(), ', left: ', implode(',', iterator_to_array($c, false)), "\n";
}
// a cycle through a generator that is suspended in the loop
final class Cycle
{
    public $generator;
    public function __destruct() { echo "collected\n"; }
    public function run()
    {
        $c = new Channel(2);
        $c->send($this);
        foreach ($c as $value) yield $value;
    }
}
$cycle = new Cycle;
$cycle->generator = $cycle->run();
$cycle->generator->current();
unset($cycle);
gc_collect_cycles();
// an exception in the body, and one of the channel: where it is thrown is the line of the loop
$c = new Channel(1);
$c->close(new LogicException('why'));
try {
    foreach ($c as $value);
} catch (Async\ChannelException $e) {
    echo $e->getLine() - __LINE__, ' ', said($e), ', ', count($e->getTrace()), " calls\n";
}
attempt('body', function() {
    $c = new Channel(1);
    $c->send(1);
    try {
        foreach ($c as $value) throw new RuntimeException('in the body');
    } finally {
        echo count($c), "\n";
    }
});
// the application exits while a loop waits
$waits = spawn(function() { foreach (new Channel as $value); });
T\begun($waits);
suspend();
echo $waits->getAwaitingInfo()['call'], "\n";
exit("exit\n");
?>
--EXPECT--
a
b
an object
released
after it
by the destructor, left: the next
collected
-2 Async\ChannelException: The channel is closed after LogicException: why, 0 calls
0
body: RuntimeException: in the body
Channel::recv
exit
