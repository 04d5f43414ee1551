--TEST--
A channel of Rust code: senders wait for room and receivers for values, each in order of arrival
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/kit.inc';
use function Async\{await, spawn, suspend};
use function Embedding\{channel, close, produce, receive, send};
use function T\parked;

$numbers = channel(2);
$producer = produce($numbers, 4);
parked($producer);
echo get_class($producer), ' waits in ', $producer->getAwaitingInfo()['call'], ', ', $numbers->count(), " in the channel\n";
while (($number = receive($numbers)) !== null) {
    echo "received $number\n";
}
echo 'sent ', await($producer), "\n";

$channel = channel();
$receivers = [];
foreach (['first', 'second', 'third'] as $name) {
    $receivers[] = spawn(function () use ($name, $channel) {
        $value = receive($channel);
        echo "$name gets ", var_export($value, true), "\n";
    });
}
parked(...$receivers);
send($channel, 'a');
send($channel, ['b']);
close($channel);
array_map(await(...), $receivers);

try {
    send($channel, 'c');
} catch (Error $error) {
    echo $error->getMessage(), "\n";
}
--EXPECT--
Async\Coroutine waits in send, 2 in the channel
received 1
received 2
received 3
received 4
sent 4
first gets 'a'
second gets array (
  0 => 'b',
)
third gets NULL
The channel is closed
