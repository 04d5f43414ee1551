--TEST--
Async\Poll refuses what it cannot watch
--FILE--
<?php
require __DIR__ . '/kit.inc';

$poll = new Async\Poll;
$closed = fopen('php://memory', 'r');
fclose($closed);
foreach ([1, 'x', null, new stdClass, stream_context_create(), fopen('php://memory', 'r'), $closed] as $what) {
    foreach (['watchRead', 'watchWrite', 'unwatchRead', 'unwatchWrite'] as $method) {
        echo refused(fn() => $poll->$method($what)), "\n";
    }
}
echo refused(fn() => clone $poll), "\n", refused(fn() => serialize($poll)), "\n";
echo refused(fn() => $poll->x = 1), "\n";
echo refused(fn() => $poll->wait(1, 2)), "\n";

// Watches that come and go without a wait leave nothing behind.
[$a] = pair();
$before = 0;
for ($i = 0; $i < 200000; $i++) {
    $poll->watchRead($a);
    $poll->unwatchRead($a);
    $i === 1000 && $before = (int) file_get_contents('/proc/self/statm');
}
var_dump((int) file_get_contents('/proc/self/statm') - $before < 500);
?>
--EXPECT--
TypeError: Async\Poll::watchRead(): Argument #1 ($stream) must be of type resource, int given
TypeError: Async\Poll::watchWrite(): Argument #1 ($stream) must be of type resource, int given
TypeError: Async\Poll::unwatchRead(): Argument #1 ($stream) must be of type resource, int given
TypeError: Async\Poll::unwatchWrite(): Argument #1 ($stream) must be of type resource, int given
TypeError: Async\Poll::watchRead(): Argument #1 ($stream) must be of type resource, string given
TypeError: Async\Poll::watchWrite(): Argument #1 ($stream) must be of type resource, string given
TypeError: Async\Poll::unwatchRead(): Argument #1 ($stream) must be of type resource, string given
TypeError: Async\Poll::unwatchWrite(): Argument #1 ($stream) must be of type resource, string given
TypeError: Async\Poll::watchRead(): Argument #1 ($stream) must be of type resource, null given
TypeError: Async\Poll::watchWrite(): Argument #1 ($stream) must be of type resource, null given
TypeError: Async\Poll::unwatchRead(): Argument #1 ($stream) must be of type resource, null given
TypeError: Async\Poll::unwatchWrite(): Argument #1 ($stream) must be of type resource, null given
TypeError: Async\Poll::watchRead(): Argument #1 ($stream) must be of type resource, stdClass given
TypeError: Async\Poll::watchWrite(): Argument #1 ($stream) must be of type resource, stdClass given
TypeError: Async\Poll::unwatchRead(): Argument #1 ($stream) must be of type resource, stdClass given
TypeError: Async\Poll::unwatchWrite(): Argument #1 ($stream) must be of type resource, stdClass given
TypeError: Async\Poll::watchRead(): Argument #1 ($stream) must be an open stream resource
TypeError: Async\Poll::watchWrite(): Argument #1 ($stream) must be an open stream resource
returned null
returned null
ValueError: Async\Poll::watchRead(): Argument #1 ($stream) must be a stream that has a descriptor, which can be polled
ValueError: Async\Poll::watchWrite(): Argument #1 ($stream) must be a stream that has a descriptor, which can be polled
returned null
returned null
TypeError: Async\Poll::watchRead(): Argument #1 ($stream) must be an open stream resource
TypeError: Async\Poll::watchWrite(): Argument #1 ($stream) must be an open stream resource
returned null
returned null
Error: Trying to clone an uncloneable object of class Async\Poll
Exception: Serialization of 'Async\Poll' is not allowed
Error: Cannot create dynamic property Async\Poll::$x
ArgumentCountError: Async\Poll::wait() expects at most 1 argument, 2 given
bool(true)
