--TEST--
A fiber that waits for another one of its scheduler: where nothing else can run, the scheduler continues (FIB-2)
--FILE--
<?php
require __DIR__ . '/loop.inc';
print_reports();

$q = new Queue;
$channel = new Async\Channel;
$q->fiber(function () use ($channel) { echo "waits\n"; echo $channel->recv(), "\n"; });
$q->fiber(function () use ($channel) { echo "sends\n"; $channel->send('received'); });
echo $q->turn('goes on'), "\n";

// once more, so that the scheduler waits again after it was released
$q->fiber(function () use ($channel) { for ($n = 0; $n < 2; $n++) echo $channel->recv(), "\n"; });
$q->fiber(function () use ($channel) { $channel->send('first'); });
$q->fiber(function () use ($channel) { $channel->send('second'); });
echo $q->turn('ends'), "\n";
?>
--EXPECT--
waits
sends
received
goes on
first
second
ends
