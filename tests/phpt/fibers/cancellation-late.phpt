--TEST--
A fiber that ends by a cancellation when no scheduler waits for it is not reported
--FILE--
<?php
require __DIR__ . '/loop.inc';
use function Async\{await, spawn, suspend};

print_reports();
$q = new Queue;
$channel = new Async\Channel;
$never = spawn(fn() => $channel->recv());
$fiber = $q->fiber(function() use ($never) {
    try { await($never); } finally { echo "the fiber ends\n"; }
});
$q->turn(); // the scheduler goes on while the fiber is blocked
$never->cancel();
while (!$fiber->isTerminated()) suspend();
echo "end\n";
?>
--EXPECT--
the fiber ends
end
