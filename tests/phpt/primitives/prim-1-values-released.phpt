--TEST--
PRIM-1 Channel: when buffered values are released, and destructors that use the same channel
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{Channel, Future, FutureState};
use function Async\{await, spawn};

$c = new Channel(3);
$c->send(new Probe('never received'));
$c->close();
unset($c);
echo "-\n";
$c = new Channel(3);
$c->send(new Probe('received and dropped'));
$c->recv();
echo "-\n";
$c->trySend(new Probe('kept'));
$c->close();
$refused = $c->trySend(new Probe('refused'));
echo "-\n";
attempt('send to a closed one', fn() => $c->send(new Probe('refused, too')));
unset($c);
echo "-\n";

// released while it sends into, receives from and closes its own channel
foreach (['send' => fn($c) => $c->trySend('x'), 'receive' => fn($c) => $c->tryRecv(), 'close' => fn($c) => $c->close(), 'count' => fn($c) => count($c)] as $what => $act) {
    $c = new Channel(3);
    $weak = WeakReference::create($c);
    $doing = new Doing(function() use ($weak, $act, $what) {
        echo "$what in a destructor: ", ($c = $weak->get()) === null ? 'no channel' : json_encode($act($c)), "\n";
    });
    $c->send($doing);
    $c->send('second');
    unset($doing);
    $c->recv();
    $left = [];
    while (!$c->isEmpty()) $left[] = $c->recv();
    echo json_encode($left), "\n";
    // and while the channel itself is released
    $c = new Channel(1);
    $c->send(new Doing(function() use ($weak, $act, $what) {
        echo "$what in a destructor: ", $weak->get() === null ? 'no channel' : 'WRONG', "\n";
    }));
    unset($c);
}
// a destructor that suspends, in the middle of send(), of close() and of the end of a cancelled receiver
$c = new Channel(1);
$say = function(string $text) { Async\suspend(); echo "$text\n"; };
$c->close();
attempt('send', fn() => $c->send(new Doing(fn() => $say('from the destructor of a refused value'))));
$c = new Channel;
$sender = spawn(fn() => $c->send(new Doing(fn() => $say('from the destructor of a value that was not sent'))));
T\begun($sender);
$sender->cancel();
attempt('sender', fn() => await($sender));
// that throws
attempt('destructor that throws', function() { $c = new Channel(1); $c->send(new Doing(fn() => throw new LogicException('from a destructor'))); unset($c); });
?>
--EXPECTF--
freed: never received
-
freed: received and dropped
-
freed: refused
-
send to a closed one: Async\ChannelException: The channel is closed
freed: refused, too
freed: kept
-
send in a destructor: true
["second","x"]
send in a destructor: no channel
receive in a destructor: "second"
[]
receive in a destructor: no channel
close in a destructor: null
["second"]
close in a destructor: no channel
count in a destructor: 1
["second"]
count in a destructor: no channel
send: Async\ChannelException: The channel is closed
from the destructor of a refused value
from the destructor of a value that was not sent
sender: Async\CancellationException: cancelled at %s:52
destructor that throws: LogicException: from a destructor
