--TEST--
PRIM-1 Channel::fromStream(): its coroutine ends with the channel, whether closed, released or cancelled
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{Channel, Scope};
use function Async\{await, getCoroutines, spawn, suspend};

$reading = function(callable $act) {
    [$x, $y] = T\pair();
    $c = Channel::fromStream($x);
    $reader = array_values(array_filter(getCoroutines(), fn($co) => $co !== Async\currentCoroutine()))[0];
    $act($c, $reader);
    T\alone();
    echo "it has ended\n";
};
$reading(function($c, $reader) { T\begun($reader); $c->close(); });
$reading(function($c) { $c->close(); });
$reading(function(&$c, $reader) { T\begun($reader); $c = null; });
$reading(function(&$c) { $c = null; });
$reading(function($c, $reader) { T\begun($reader); $reader->cancel(); attempt('cancelled', fn() => $c->recv()); });
$reading(function($c, $reader) { $reader->cancel(); attempt('cancelled before it began', fn() => $c->recv()); });
[$x, $y] = T\pair();
$scope = new Scope;
$scope->spawn(function() use ($scope, $x, &$c) { $c = Channel::fromStream($x); $scope->cancel(); });
T\alone();
attempt('its scope is cancelled', fn() => $c->recv());
$closed = new Scope;
$closed->spawn(function() use ($closed, $x) { $closed->cancel(); attempt('in a closed scope', fn() => Channel::fromStream($x)); });
T\alone();
// a loop that is broken off, while the coroutine waits for a receiver
[$x, $y] = T\pair();
fwrite($y, "one\ntwo\nthree\n");
foreach (Channel::fromStream($x) as $line) {
    echo $line;
    break;
}
T\alone();
echo "it has ended\n";
?>
--EXPECTF--
it has ended
it has ended
it has ended
it has ended
cancelled: Async\ChannelException: The channel is closed after Async\CancellationException: cancelled at %s:18
it has ended
cancelled before it began: Async\ChannelException: The channel is closed after Async\CancellationException: The coroutine that reads the stream was cancelled before it began
it has ended
its scope is cancelled: Async\ChannelException: The channel is closed after Async\CancellationException: The coroutine that reads the stream was cancelled before it began
in a closed scope: Async\AsyncException: Coroutine scope is closed
one
it has ended
