--TEST--
Waits of Rust code end when their coroutine is cancelled, and a wake-up that it has got goes to the next one
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/kit.inc';
Embedding\report_at_end();
use Async\CancellationException;
use function Async\{await, spawn};
use function Embedding\{cancelled_child, channel, dropped, listen, produce, receive, send, serve, sleeper};
use function T\parked;

function outcome($coroutine): string
{
    try {
        return var_export(await($coroutine), true);
    } catch (CancellationException $exception) {
        return ($coroutine->isCancelled() ? 'cancelled: ' : 'not cancelled: ') . $exception->getMessage();
    }
}

$channel = channel();
$bodies = ['send' => produce($channel, 5), 'readable' => serve(listen(), strrev(...)), 'sleep' => sleeper(1_000_000)];
parked(...$bodies);
foreach ($bodies as $wait => $body) {
    $body->cancel(new CancellationException("while in $wait"));
    echo outcome($body), "\n";
}
echo 'dropped: ', dropped(), "\n";

echo 'the producer has closed the channel: ', receive($channel), ', ', var_export(receive($channel), true), "\n";

$channel = channel();
$first = spawn(receive(...), $channel);
$second = spawn(receive(...), $channel);
parked($first, $second);
send($channel, 'a value');
$first->cancel(new CancellationException('when it was woken'));
echo outcome($first), "\n", outcome($second), "\n";

$channel = channel();
$first = spawn(receive(...), $channel);
$second = spawn(receive(...), $channel);
parked($first, $second);
$first->cancel(new CancellationException('before'));
send($channel, 'another value');
echo outcome($first), "\n", outcome($second), "\n";

$channel = channel();
$gone = spawn(receive(...), $channel);
parked($gone);
$gone->cancel();
$waits = spawn(receive(...), $channel);
parked($waits);
send($channel, 'for the one that waits');
echo outcome($waits), "\n";
await(spawn(fn () => outcome($gone)));

echo outcome(cancelled_child()), "\n", 'dropped: ', dropped(), "\n";
--EXPECTF--
cancelled: while in send
cancelled: while in readable
cancelled: while in sleep
dropped: 1
the producer has closed the channel: 1, NULL
cancelled: when it was woken
'a value'
cancelled: before
'another value'
'for the one that waits'
cancelled: cancelled at %s
dropped: 2
request end: 2 dropped
